/**
 * `npm run demo`: loads the postal codes of the United States (a real data set, from the npm
 * package vega-datasets) through the official driver into a sharded collection, and shows the
 * documents per shard and the shards that each query asks.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { MongoClient, type Document, type Filter } from 'mongodb'
import { ShardedCluster, type RoutedEvent } from 'shardlab'

interface ZipCode extends Document {
  readonly zip: string
  readonly city: string
  readonly state: string
  readonly county: string
  readonly location: { readonly type: 'Point'; readonly coordinates: readonly [longitude: number, latitude: number] }
}

// The package exports only its code; the data are in a folder next to it.
const csv = await readFile(fileURLToPath(new URL('../data/zipcodes.csv', import.meta.resolve('vega-datasets'))), 'utf8')
const zipCodes = parseZipCodes(csv)

await using cluster = await ShardedCluster.start({ shards: 3 })
const routed: RoutedEvent[] = []
cluster.on('routed', (event) => routed.push(event))
const client = await MongoClient.connect(cluster.uri)
try {
  const collection = client.db('geo').collection<ZipCode>('zipcodes')
  await client.db('admin').command({ shardCollection: 'geo.zipcodes', key: { zip: 'hashed' } })
  console.log(
    `Sharded geo.zipcodes on { zip: "hashed" } over ${cluster.shards.length} shards of an emulated MongoDB 7.0.`,
  )
  for (let at = 0; at < zipCodes.length; at += 5_000) {
    await collection.insertMany(zipCodes.slice(at, at + 5_000))
    progress(Math.min(at + 5_000, zipCodes.length), zipCodes.length)
  }
  console.log(`Loaded ${zipCodes.length.toLocaleString('en')} postal codes through the mongodb driver.\n`)
  await showPlacement(zipCodes.length)
  console.log('\nTargeted: the filter has the shard key, so the router asks one shard.')
  for (const zip of ['10001', '60601', '94103']) await show(collection.find({ zip }).toArray(), { zip })
  console.log('\nBroadcast: the filter does not have the shard key, so the router asks every shard.')
  const filters: Filter<ZipCode>[] = [{ city: 'Springfield' }, { state: 'HI' }, { county: 'Orange', state: 'CA' }]
  for (const filter of filters) await show(collection.find(filter).toArray(), filter)
} finally {
  await client.close()
}

async function showPlacement(total: number): Promise<void> {
  console.log('Documents per shard (counted on each shard directly):')
  for (const shard of cluster.shards) {
    const direct = await MongoClient.connect(shard.uri)
    try {
      const count = await direct.db('geo').collection('zipcodes').countDocuments()
      console.log(`  ${shard.id}  ${String(count).padStart(6)}  ${'█'.repeat(Math.round((count / total) * 60))}`)
    } finally {
      await direct.close()
    }
  }
}

async function show(answer: Promise<ZipCode[]>, filter: Filter<ZipCode>): Promise<void> {
  routed.length = 0
  const documents = await answer
  const event = await routedFind()
  const first = documents[0]
  const example = first === undefined ? '' : `, first ${first.zip} ${first.city} ${first.state}`
  console.log(
    `  find(${JSON.stringify(filter)})  ->  ${event.kind}, asked ${event.shards.join(' ')}  (${documents.length} found${example})`,
  )
}

/** The router's thread sends events shortly after its answer. */
async function routedFind(): Promise<RoutedEvent> {
  for (;;) {
    const event = routed.find(({ command }) => command === 'find')
    if (event !== undefined) return event
    await new Promise((resolve) => cluster.once('routed', resolve))
  }
}

function parseZipCodes(text: string): ZipCode[] {
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [zip, latitude, longitude, city, state, county] = line.trim().split(',')
      return {
        zip: zip!,
        city: city!,
        state: state!,
        county: county!,
        location: { type: 'Point', coordinates: [Number(longitude), Number(latitude)] },
      }
    })
}

function progress(done: number, total: number): void {
  if (!process.stdout.isTTY) return
  process.stdout.write(
    `\r  ${'█'.repeat(Math.round((done / total) * 40)).padEnd(40, '░')} ${done}/${total}${done === total ? '\n' : ''}`,
  )
}
