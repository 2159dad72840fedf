/** Updates the hosts in the catalog of a copied cluster, which listens on other ports. */
import { DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import type { ConfigHandlers } from '../host.js'

export const relocationHandlers: ConfigHandlers<'config.relocate'> = {
  async 'config.relocate'({ node, store }, { moved }) {
    const places = new Map(moved)
    const relocated = (['config.shards', 'config.mongos'] as const).flatMap((ns) => {
      const field = ns === 'config.shards' ? 'host' : '_id'
      return store.all(ns).flatMap((document) => {
        const before = findField(document, field)!.asString()
        const [set, hosts] = splitHosts(before)
        const after = `${set}${hosts.map((host) => places.get(host) ?? host).join(',')}`
        return before === after ? [] : [{ ns, before: document, after: withText(document, field, after) }]
      })
    })
    // Remove all first: hosts are unique, and a new host may equal another member's old one.
    for (const { ns, before } of relocated) store.remove(ns, before)
    for (const { ns, after } of relocated) store.put(ns, after)
    await node.flushToMajority()
    return {}
  },
}

function splitHosts(text: string): [set: string, hosts: string[]] {
  const at = text.lastIndexOf('/') + 1
  return [text.slice(0, at), text.slice(at).split(',')]
}

function withText(document: Uint8Array, field: string, text: string): Uint8Array {
  const writer = new DocumentWriter(document.length + 32)
  for (const it = new FieldIterator(document); it.next();) {
    if (it.name() === field) writer.string(field, text)
    else writer.value(it.name(), it.value())
  }
  return writer.finish()
}
