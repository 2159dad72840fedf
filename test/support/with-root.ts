import { MongoClient, type MongoClientOptions } from 'mongodb'

/**
 * Creates the user `root`, whose password is `secret`, by the localhost exception.
 * @returns the URI with it
 */
export async function withRoot(uri: string, options: MongoClientOptions = {}): Promise<string> {
  const client = await MongoClient.connect(uri, options)
  await client.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] })
  await client.close()
  const [address, given] = uri.replace('//', '//root:secret@').split('?') as [string, string?]
  // Some clients look for the user in the database that they use.
  return `${address}?authSource=admin${given === undefined ? '' : `&${given}`}`
}
