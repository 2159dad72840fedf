/**
 * Members send messages to shards by their ids. A shard whose id is not the name of its replica set
 * is named so in the whole process.
 */
import { clusterAddress, RequestFailedError, type ActorContext } from '@shardlab/actor'
import { findField } from '@shardlab/bson'
import type { CatalogHost } from '../host.js'

/** @returns false: the name is the address of another member */
export async function nameMember(context: ActorContext, member: string, name: string): Promise<boolean> {
  return (await context.request(clusterAddress, 'cluster.name-member', { member, name })).isFree
}

/** Repeats the names of the catalog's shards, which a copied cluster does not know. */
export function nameShards({ node: { context }, store }: CatalogHost): void {
  for (const document of store.all('config.shards')) {
    const id = findField(document, '_id')!.asString()
    const member = findField(document, 'host')!.asString().split('/')[0]!
    if (member !== id) context.detach(nameMember(context, member, id).catch(ignoreUnreachable))
  }
}

/** Nothing serves the address of the API in a runtime without an API. */
function ignoreUnreachable(error: unknown): void {
  if (!(error instanceof RequestFailedError)) throw error
}
