import type { Document, MongoClient } from 'mongodb'
import { encode } from '@shardlab/bson'
import type { PlacementData } from './placement.js'

const nowhere: PlacementData = {
  isRouted: false,
  isKnown: true,
  shards: [],
  key: null,
  bounds: [],
  owners: [],
  primary: 0,
}
/** For a mongos whose config database users cannot read. */
export const unknownPlacement: PlacementData = { ...nowhere, isRouted: true, isKnown: false }

/** Rejects with the server's error if the config database cannot be read. */
export async function readPlacement(client: MongoClient, ns: string, isMongos: boolean): Promise<PlacementData> {
  if (!isMongos) return nowhere
  const config = client.db('config')
  const shards = (await config.collection<{ _id: string }>('shards').find({}).sort({ _id: 1 }).toArray()).map(
    ({ _id }) => _id,
  )
  const database = await config
    .collection<Document & { _id: string }>('databases')
    .findOne({ _id: ns.slice(0, ns.indexOf('.')) })
  const primary = Math.max(0, shards.indexOf(String(database?.['primary'])))
  const entry = await config.collection<Document & { _id: string }>('collections').findOne({ _id: ns })
  if (entry === null || entry['dropped'] === true || entry['key'] === undefined || entry['unsplittable'] === true) {
    return { ...nowhere, isRouted: true, shards, primary }
  }
  // Since 5.0 chunks refer to their collection by UUID.
  const filter = entry['timestamp'] === undefined ? { ns } : { uuid: entry['uuid'] }
  const chunks = await config.collection('chunks').find(filter, { promoteValues: false }).sort({ min: 1 }).toArray()
  return {
    isRouted: true,
    isKnown: true,
    shards,
    key: Object.entries(entry['key'] as Record<string, unknown>).map(([field, kind]) => ({
      field,
      hashed: kind === 'hashed',
    })),
    bounds: chunks.map(({ min }) => encode(min)),
    owners: chunks.map(({ shard }) => shards.indexOf(String(shard))),
    primary,
  }
}

export function samePlacement(a: PlacementData, b: PlacementData): boolean {
  const bounds = (data: PlacementData): string =>
    data.bounds.map((bound) => Buffer.from(bound).toString('base64')).join()
  return (
    a.primary === b.primary &&
    a.shards.join() === b.shards.join() &&
    a.owners.join() === b.owners.join() &&
    bounds(a) === bounds(b)
  )
}
