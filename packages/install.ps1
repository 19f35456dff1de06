# Installs stopgate @VERSION@ for this account on Windows: downloads the program, compares its checksum,
# and puts it into %LOCALAPPDATA%\Programs\stopgate. $env:STOPGATE_BIN_DIR names another directory,
# $env:STOPGATE_BASE another address of the release.
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

$version = '@VERSION@'
$base = if ($env:STOPGATE_BASE) { $env:STOPGATE_BASE } else { '@BASE@' }
$bin = if ($env:STOPGATE_BIN_DIR) { $env:STOPGATE_BIN_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\stopgate' }
$name = "stopgate-$version-x86_64-pc-windows-gnu"
$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory -Path $work | Out-Null

function Get-ReleaseFile($file) {
  $target = Join-Path $work $file
  if (Test-Path -PathType Container $base) { Copy-Item (Join-Path $base $file) $target }
  else { Invoke-WebRequest -UseBasicParsing -Uri "$base/$file" -OutFile $target }
  $target
}

try {
  $archive = Get-ReleaseFile "$name.zip"
  $sums = Get-ReleaseFile 'SHA256SUMS'
  $line = Select-String -Path $sums -Pattern "  $([Regex]::Escape("$name.zip"))$"
  if (-not $line) { throw "SHA256SUMS has no line for $name.zip" }
  $wanted = $line.Line.Substring(0, 64)
  $found = (Get-FileHash -Algorithm SHA256 $archive).Hash.ToLowerInvariant()
  if ($wanted -ne $found) { throw "the checksum of $name.zip differs; nothing was installed" }
  Expand-Archive -Path $archive -DestinationPath $work
  New-Item -ItemType Directory -Force -Path $bin | Out-Null
  Copy-Item -Force (Join-Path $work "$name\stopgate.exe") (Join-Path $bin 'stopgate.exe')
  Write-Output "stopgate $version is $(Join-Path $bin 'stopgate.exe')"
  if (($env:PATH -split ';') -notcontains $bin) { Write-Output "$bin is not on your PATH: add it, so that agents find stopgate" }
  Write-Output 'next: stopgate try, then stopgate install'
}
finally { Remove-Item -Recurse -Force $work }
