/** What hostile messages must not change. */
import { MongoClient } from 'mongodb'

export async function prepare(uri: string): Promise<void> {
  const client = await MongoClient.connect(uri)
  await client
    .db('hostile')
    .collection<{ _id: number; x: number }>('plain')
    .insertMany([1, 2, 3].map((_id) => ({ _id, x: _id })))
  await client.close()
}

/** All databases with their collections and documents, as text. */
export async function dataOf(uri: string): Promise<Record<string, string>> {
  const client = await MongoClient.connect(uri)
  const held: Record<string, string> = {}
  const { databases } = await client.db().admin().listDatabases({ nameOnly: true })
  for (const { name } of databases) {
    if (['config', 'local'].includes(name)) continue
    for (const info of await client.db(name).listCollections().toArray())
      held[`${name}.${info.name}`] = JSON.stringify([
        info,
        await client.db(name).collection(info.name).find().sort({ _id: 1 }).toArray(),
      ])
  }
  await client.close()
  return held
}
