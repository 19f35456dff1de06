// Adds the token to every request, and changes nothing else.
import http from 'node:http';
const [,, listen, target, token] = process.argv;
http.createServer((q, a) => {
  const forward = http.request({ host: '127.0.0.1', port: Number(target), method: q.method, path: q.url,
    headers: { ...q.headers, authorization: `Bearer ${token}` } }, (r) => { a.writeHead(r.statusCode, r.rawHeaders); r.pipe(a); });
  forward.on('error', () => a.destroy());
  a.on('close', () => forward.destroy());
  q.pipe(forward);
}).listen(Number(listen), '127.0.0.1', () => console.log('open'));
