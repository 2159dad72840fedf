# crud.pl URI DATABASE: the script of the clients on the Perl driver.
use strict;
use warnings;
use utf8;
use MongoDB;

my ($uri, $name) = @ARGV;
my $client = MongoDB->connect($uri);
my $db     = $client->get_database($name);

sub check {
    my ($holds, $what) = @_;
    die "$what\n" unless $holds;
}

$db->drop;
$client->get_database('admin')->run_command([ shardCollection => "$name.things", key => { _id => 'hashed' } ]);
my $things = $db->get_collection('things');

my $inserted = $things->insert_many([ map { { _id => $_, n => $_ % 7, text => "grüße $_" } } 0 .. 249 ]);
check($inserted->inserted_count == 250, 'insert_many');
check($things->find_one({ _id => 17 })->{text} eq 'grüße 17', 'find by _id');

my @found = map { $_->{_id} } $things->find({ n => 3 }, { sort => [ _id => -1 ], limit => 20, batchSize => 5 })->all;
check("@found" eq join(' ', map { 248 - 7 * $_ } 0 .. 19), "sort and limit: @found");
check(scalar($things->find({}, { batchSize => 10 })->all) == 250, 'getMore');

check($things->update_many({ n => 3 }, { '$inc' => { n => 100 } })->modified_count == 36, 'update_many');
my $modified = $things->find_one_and_update({ _id => 5 }, { '$set' => { seen => 1 } }, { returnDocument => 'after' });
check($modified->{seen} == 1, 'find_one_and_update');

my @groups = $things->aggregate([
    { '$match' => { n => { '$lt' => 7 } } },
    { '$group' => { _id => '$n', count => { '$sum' => 1 } } },
    { '$sort'  => { _id => 1 } },
])->all;
check(@groups == 6 && $groups[0]{count} == 36, 'aggregate');
check($things->count_documents({ n => 0 }) == 36, 'count');
my @values = sort { $a <=> $b } $things->distinct('n')->all;
check("@values" eq '0 1 2 4 5 6 103', "distinct: @values");

my $people = $db->get_collection('people');
$people->indexes->create_one([ email => 1 ], { unique => 1 });
$people->insert_one({ email => 'a@example.org' });
eval { $people->insert_one({ email => 'a@example.org' }); die "the duplicate was inserted\n" };
check(ref $@ && $@->isa('MongoDB::DuplicateKeyError'), "duplicate key: $@");

check($things->delete_many({ n => 0 })->deleted_count == 36, 'delete_many');
check($things->delete_one({ _id => 1 })->deleted_count == 1, 'delete_one');
$things->drop;
my @names = $db->collection_names;
check("@names" eq 'people', "drop: @names");
$db->drop;
print "fine\n";
