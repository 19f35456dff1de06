use strict;
use warnings;
use Test::More;
use Tally;

is(Tally->new->add('a')->winner, 'a', 'the only one wins');
is(Tally->new->add('a')->add('b')->add('b')->winner, 'b', 'most votes win');

done_testing;
