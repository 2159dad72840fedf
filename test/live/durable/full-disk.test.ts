/** A mongod whose file system is full now and then, and which crashes meanwhile. */
import { fstatSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '@shardlab/actor'
import { createMongod, type MongodOptions } from '@shardlab/node'
import { createInlineRuntime, DiskFolder, realFileSystem, type FileSystem } from '@shardlab/runtime'
import { MongoClient, MongoServerError } from 'mongodb'
import t from 'tap'

const seed = Number(process.env['SHARDLAB_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const rounds = process.env['SHARDLAB_LONG'] === '1' ? 200 : 5
const writers = 16

/** Files that exist can be overwritten on a full disk, and do not grow. */
class LimitedFiles {
  isFull = false
  /** Whether the system tells that the disk is full: a quota does not show. */
  isTold = true

  get files(): FileSystem {
    const refuses = (fd: number, position: number, length: number) =>
      this.isFull && position + length > fstatSync(fd).size
    const noSpace = () => Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    return {
      ...realFileSystem,
      freeBytesSync: (folder) => (this.isFull && this.isTold ? 0 : realFileSystem.freeBytesSync(folder)),
      writeSync(fd, bytes, offset, length, position) {
        if (refuses(fd, position, length)) throw noSpace()
        return realFileSystem.writeSync(fd, bytes, offset, length, position)
      },
      write(fd, bytes, position, done) {
        if (refuses(fd, position, bytes.length)) setImmediate(() => done(noSpace(), 0))
        else realFileSystem.write(fd, bytes, position, done)
      },
    }
  }
}

t.test('a full disk refuses writes, and crashes meanwhile lose none that was acknowledged', async (test) => {
  const random = createRandom(seed)
  const folder = await mkdtemp(join(tmpdir(), 'shardlab-full-'))
  test.teardown(() => rm(folder, { recursive: true, force: true }))
  const limited = new LimitedFiles()
  const runtime = createInlineRuntime({
    roles: { mongod: createMongod },
    seed,
    disks: new DiskFolder(folder, limited.files),
  })
  test.teardown(() => runtime.stop())
  const options: MongodOptions = { emulate: '7.0', maxWireVersion: 21, set: null, isStandalone: true }
  const spec = { address: 'mongod', role: 'mongod', options, diskLimitBytes: 2 ** 30 }
  const [member] = await runtime.start([{ ...spec, listen: { host: '127.0.0.1', port: 0 } }])
  const client = await MongoClient.connect(`mongodb://${member!.endpoint}/`, { retryWrites: false })
  test.teardown(() => client.close())
  const a = client.db('app').collection<{ _id: number; text: string }>('a')
  const acknowledged: number[] = []
  let refused = 0
  let next = 0

  const write = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const _id = next++
      try {
        await a.insertOne({ _id, text: 'x'.repeat(random.below(40_000)) })
        acknowledged.push(_id)
      } catch (error) {
        if (error instanceof MongoServerError && error.code === 14031) refused++
      }
    }
  }
  const all = (count: number) => Promise.all(Array.from({ length: writers }, () => write(count)))

  for (let round = 0; round < rounds; round++) {
    await all(1)
    limited.isTold = random.below(2) === 0
    limited.isFull = true
    const before = refused
    // What is allocated already is still written.
    while (refused === before) await all(2)
    test.ok((await a.countDocuments()) >= acknowledged.length, 'reads are served')
    const crashing = all(1)
    if (random.below(2) === 0) await crashing
    await runtime.crash('mongod')
    const restarted = runtime.restart('mongod')
    if (random.below(2) === 0) limited.isFull = false
    await restarted
    await crashing
    limited.isFull = false
    const found = new Set(await a.distinct('_id'))
    const lost = acknowledged.filter((_id) => !found.has(_id))
    if (lost.length > 0) return test.fail(`SHARDLAB_SEED=${seed}, round ${round}: lost ${lost.join()}`)
    const accepted = acknowledged.length
    while (acknowledged.length === accepted) await all(1)
    if (random.below(3) === 0) await a.deleteMany({ _id: { $lt: next - 100 } })
    acknowledged.splice(
      0,
      acknowledged.length,
      ...(await a.distinct('_id')).filter((_id) => acknowledged.includes(_id)),
    )
  }
  test.comment(`SHARDLAB_SEED=${seed}: ${next} inserts, ${refused} refused`)
})
