import type { FakeDisk } from '@shardlab/actor/testing'
import { decode, encode, type ObjectId, type Timestamp, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import { ConfigUnderTest } from './config.js'

export const ns = 'db.c'

export class Chunks {
  readonly config: ConfigUnderTest

  private constructor(config: ConfigUnderTest) {
    this.config = config
  }

  static async make(
    cuts: readonly number[],
    shards = ['shard01', 'shard02'],
    version: EmulatedVersion = '7.0',
    disk?: FakeDisk,
  ): Promise<Chunks> {
    const config = await new ConfigUnderTest(version, disk).initialised(['shard01', 'shard02', 'shard03'])
    await config.createDatabase('db')
    await config.createCollection(ns, cuts, shards)
    return new Chunks(config)
  }

  restarted(): Chunks {
    return new Chunks(this.config.restarted())
  }

  /**
   * Runs a client's command.
   * @throws Error when it fails
   */
  async run(command: Document, $db = 'config'): Promise<void> {
    const { body } = await this.config.send('client.command', {
      connectionId: 1,
      body: encode({ ...command, $db }),
      sequences: [],
      legacy: false,
      remote: '',
    })
    const reply = decode(body)
    if (reply['ok'] !== 1 || reply['writeErrors'] !== undefined) throw new Error(JSON.stringify(reply))
  }

  async generation(): Promise<[string, number, number]> {
    const [entry] = await this.config.all('collections')
    const { lastmodEpoch, timestamp } = entry as { lastmodEpoch: ObjectId; timestamp?: Timestamp }
    return [lastmodEpoch.toHexString(), timestamp?.t ?? 0, timestamp?.i ?? 0]
  }

  async all(): Promise<Document[]> {
    const order = (value: unknown) =>
      typeof value === 'number' ? value : (value as { _bsontype: string })._bsontype === 'MinKey' ? -Infinity : Infinity
    const documents = await this.config.all('chunks')
    return documents.sort((x, y) => order((x['min'] as Document)['a']) - order((y['min'] as Document)['a']))
  }

  /** `min shard major|minor` of each chunk. */
  async lines(): Promise<string[]> {
    return (await this.all()).map(({ min, shard, lastmod }) => {
      const { t: major, i: minor } = lastmod as Timestamp
      const a = (min as Document)['a']
      return `${typeof a === 'number' ? a : 'min'} ${String(shard)} ${major}|${minor}`
    })
  }

  async at(value: number): Promise<Document> {
    const chunks = await this.all()
    return chunks.findLast(({ min }) => {
      const a = (min as Document)['a']
      return typeof a !== 'number' || a <= value
    })!
  }

  async split(
    value: number,
    points: readonly unknown[],
    over: Partial<{ shard: string; epoch: string; min: Document; max: Document }> = {},
  ) {
    const chunk = await this.at(value)
    const generation = await this.generation()
    if (over.epoch !== undefined) generation[0] = over.epoch
    const { error } = await this.config.send('config.commit-chunk-split', {
      ns,
      generation,
      min: encode(over.min ?? (chunk['min'] as Document)),
      max: encode(over.max ?? (chunk['max'] as Document)),
      splitPoints: points.map((a) => encode({ a })),
      shard: over.shard ?? (chunk['shard'] as string),
    })
    return error === null ? null : decode(error)
  }

  async merge(
    from: number,
    to: number,
    over: Partial<{ shard: string; epoch: string; validAfter: [number, number] }> = {},
  ) {
    const first = await this.at(from)
    const last = await this.at(to)
    const generation = await this.generation()
    if (over.epoch !== undefined) generation[0] = over.epoch
    const { error } = await this.config.send('config.commit-chunks-merge', {
      ns,
      generation,
      min: encode(first['min'] as Document),
      max: encode(last['max'] as Document),
      shard: over.shard ?? (first['shard'] as string),
      validAfter: over.validAfter ?? [2_000_000_000, 1],
    })
    return error === null ? null : decode(error)
  }

  async move(value: number, to: string, range?: { min: Document; max: Document }) {
    const chunk = await this.at(value)
    const { t: major, i: minor } = chunk['lastmod'] as Timestamp
    const [epoch, seconds, increment] = await this.generation()
    const { error } = await this.config.send('config.commit-chunk-migration', {
      ns,
      min: encode(range?.min ?? (chunk['min'] as Document)),
      max: encode(range?.max ?? (chunk['max'] as Document)),
      from: chunk['shard'] as string,
      to,
      chunkVersion: [epoch, seconds, increment, major, minor],
      clusterTime: [0, 0],
      plannedAt: [0, 0],
    })
    return error === null ? null : decode(error)
  }

  async changelog(what: string): Promise<Document[]> {
    return (await this.config.all('changelog')).filter((entry) => entry['what'] === what)
  }
}
