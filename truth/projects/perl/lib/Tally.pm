package Tally;
use strict;
use warnings;

sub new { return bless { votes => {} }, shift }

sub add {
    my ($self, $name) = @_;
    $self->{votes}{$name}++;
    return $self;
}

sub winner {
    my ($self) = @_;
    my @names = sort keys %{ $self->{votes} };
    return $names[0];
}

1;
