/**
 * Unique: no value of a field kept by `@shardlab/unique` has two owners, and each document has its
 * reservations.
 */
import type { Fields, World } from '@shardlab/unique/core'
import { isExpected } from '../unique/writer.js'

export async function uniqueValueViolations(world: World): Promise<string[]> {
  const wrong: string[] = []
  const documents = await all(world, world.main)
  for (const { port, specs } of world.proxies) {
    const [spec] = specs
    const proxies = await all(world, port)
    const owners = new Map(
      proxies.map((proxy) => [valueOf(spec!.fields, proxy), 'owner' in proxy ? proxy['owner'] : proxy['_id']]),
    )
    const seen = new Set<string>()
    for (const document of documents) {
      const value = valueOf(spec!.fields, document)
      if (seen.has(value)) wrong.push(`${spec!.name} ${value} is owned twice`)
      seen.add(value)
      if (owners.get(value) !== document['_id'])
        wrong.push(`${JSON.stringify(document)} has no reservation of ${spec!.name}`)
    }
  }
  return wrong
}

const valueOf = (fields: readonly string[], document: Fields): string =>
  JSON.stringify(fields.map((field) => document[field]))

async function all({ clock }: World, port: World['main']): Promise<Fields[]> {
  for (;;) {
    try {
      const documents: Fields[] = []
      for await (const document of port.find({})) documents.push(document)
      return documents
    } catch (error) {
      if (!isExpected(error)) throw error
      await clock.sleep(50)
    }
  }
}
