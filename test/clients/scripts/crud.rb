# crud.rb URI DATABASE: the script of the clients on the Ruby driver. Its URI parser breaks on Ruby 3.1, so it gets the addresses.
require 'mongo'

uri, name = ARGV
Mongo::Logger.logger.level = Logger::FATAL
_, user, password, hosts = *uri.match(%r{\Amongodb://(?:([^:/@]+):([^@/]+)@)?([^/]+)})
login = user.nil? ? {} : { user: user, password: password, auth_source: 'admin' }
client = Mongo::Client.new(hosts.split(','), database: name, **login)

def check(holds, what)
  abort what unless holds
end

client.database.drop
client.use('admin').database.command(shardCollection: "#{name}.things", key: { _id: 'hashed' })
things = client[:things]

inserted = things.insert_many(Array.new(250) { |i| { _id: i, n: i % 7, text: "grüße #{i}" } })
check inserted.inserted_count == 250, 'insert_many'
check things.find(_id: 17).first == { '_id' => 17, 'n' => 3, 'text' => 'grüße 17' }, 'find by _id'

found = things.find(n: 3).sort(_id: -1).limit(20).batch_size(5).map { |each| each['_id'] }
check found == Array.new(20) { |i| 248 - 7 * i }, "sort and limit: #{found}"
check things.find({}, batch_size: 10).to_a.size == 250, 'getMore'

check things.update_many({ n: 3 }, { '$inc' => { n: 100 } }).modified_count == 36, 'update_many'
modified = things.find_one_and_update({ _id: 5 }, { '$set' => { seen: true } }, return_document: :after)
check modified['seen'] == true, 'find_one_and_update'

groups = things.aggregate([
  { '$match' => { n: { '$lt' => 7 } } },
  { '$group' => { _id: '$n', count: { '$sum' => 1 } } },
  { '$sort' => { _id: 1 } }
]).to_a
check groups.size == 6 && groups[0] == { '_id' => 0, 'count' => 36 }, "aggregate: #{groups}"
check things.count(n: 0) == 36, 'count'
check things.distinct(:n).sort == [0, 1, 2, 4, 5, 6, 103], 'distinct'

people = client[:people]
people.indexes.create_one({ email: 1 }, unique: true)
people.insert_one(email: 'a@example.org')
begin
  people.insert_one(email: 'a@example.org')
  abort 'the duplicate was inserted'
rescue Mongo::Error::OperationFailure => error
  check error.message.include?('E11000'), error.message
end

check things.delete_many(n: 0).deleted_count == 36, 'delete_many'
check things.delete_one(_id: 1).deleted_count == 1, 'delete_one'
things.drop
check client.database.collection_names == ['people'], 'drop'
client.database.drop
client.close
puts 'fine'
