use strict;
use warnings;
use Test::More tests => 1;
use Tally;

is(Tally->new->winner, undef, 'nobody');
