import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkMemory, DataDirectory } from '../src/durable/data-directory.js'

async function newPath(test: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'shardlab-directory-'))
  test.teardown(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'data')
}

t.test('a directory that needs more memory than there is is refused with all three sizes', async (test) => {
  checkMemory('/data', 2 ** 30, 3 * 2 ** 30)
  test.throws(
    () => checkMemory('/data', 2 ** 30, 2 ** 30),
    /^\/data has 1(\.\d*)? GB of data, which need about 2\.5\d* GB of memory, and this process has 1(\.\d*)? GB: free some/,
  )
})

t.test('each start draws other ids, also after one that was not completed', async (test) => {
  const dbPath = await newPath(test)
  const seeds: (number | string)[] = []
  const start = (isCompleted: boolean) => {
    const directory = DataDirectory.open({ dbPath, seed: 7 })
    seeds.push(directory.seed)
    directory.disks.prepare({ address: 'shard01', role: 'shard', diskLimitBytes: 2 ** 20 })
    if (isCompleted) directory.started()
    directory.close()
  }
  start(true)
  for (const isCompleted of [false, false, true, true]) start(isCompleted)
  test.strictSame(seeds, [7, '7 start 1', '7 start 2', '7 start 3', '7 start 4'])
})

t.test('a first start that was not completed is repeated without its members', async (test) => {
  const dbPath = await newPath(test)
  const first = DataDirectory.open({ dbPath, seed: 7 })
  first.disks.prepare({ address: 'shard01', role: 'shard', diskLimitBytes: 2 ** 20 })
  first.close()
  const second = DataDirectory.open({ dbPath, seed: 7 })
  test.equal(second.seed, 7)
  test.strictSame(second.disks.stored(), [])
  second.close()
})

t.test('a directory without any member is refused, and a refused start changes nothing', async (test) => {
  const dbPath = await newPath(test)
  const directory = DataDirectory.open({ dbPath })
  directory.disks.prepare({ address: 'shard01', role: 'shard', diskLimitBytes: 2 ** 20 })
  directory.started()
  directory.close()
  const manifest = await readFile(join(dbPath, 'cluster.json'), 'utf8')
  await rm(join(dbPath, 'members/shard01'), { recursive: true })
  test.throws(() => DataDirectory.open({ dbPath }), /members\/shard01 is damaged: the folder is missing/)
  await rm(join(dbPath, 'members.json'))
  test.throws(() => DataDirectory.open({ dbPath }), /members is damaged: it has no member/)
  test.equal(await readFile(join(dbPath, 'cluster.json'), 'utf8'), manifest)
})
