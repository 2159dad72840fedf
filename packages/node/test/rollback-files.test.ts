/** The files in which a member keeps documents of rollbacks. */
import { FakeDisk } from '@shardlab/actor/testing'
import { encode } from '@shardlab/bson'
import { behavioursOf } from '@shardlab/sharding'
import t from 'tap'
import { RollbackFiles, rollbackFilesBytesMax } from '../src/replication/rollback-files/rollback-files.js'
import { DiskWithDocuments } from '../src/replication/storage/disk-with-documents.js'

t.test('D908: a member keeps the newest files, up to a limit, and numbers them across restarts', async (t) => {
  const fakeDisk = new FakeDisk()
  const limits: number[] = []
  const start = () => {
    const disk = new DiskWithDocuments(fakeDisk)
    for (const _ of disk.read().records);
    return new RollbackFiles({
      ...{ disk, behaviours: behavioursOf('4.0'), now: () => 1_700_000_000_000, isOn: () => true },
      onLimit: (bytesMax) => limits.push(bytesMax),
    })
  }
  const third = encode({ _id: 1, text: 'x'.repeat(rollbackFilesBytesMax / 3) })
  const save = (files: RollbackFiles) =>
    files.save([{ ns: 'app.rows', uuid: new Uint8Array(16), entries: 1, documents: [third] }])
  const files = start()
  const saved = [await save(files), await save(files)].flat().map(({ file }) => file)
  t.strictSame(
    saved,
    [0, 1].map((number) => `rollback/app.rows/removed.2023-11-14T22-13-20.${number}.bson`),
  )
  t.strictSame(limits, [])
  const restarted = start()
  t.strictSame(
    restarted.list().map(([path]) => path),
    saved,
  )
  await save(restarted)
  t.strictSame(limits, [rollbackFilesBytesMax])
  const kept = start().list()
  t.strictSame(
    kept.map(([path]) => path.slice(-6)),
    ['1.bson', '2.bson'],
  )
  const [path] = kept[0]!
  t.same([...start().read({ path, offset: 4, bytesMax: 3 }).bytes!], [...third.subarray(4, 7)])
  t.equal(start().read({ path: saved[0]!, offset: 0, bytesMax: 1 }).bytes, null, 'deleted')
})
