import { bytesOfImage, type Disk, type DiskImage } from '@shardlab/actor'
import { encode } from '@shardlab/bson'
import t from 'tap'
import { DiskWithDocuments } from '../src/replication/storage/disk-with-documents.js'

/** Writes take effect in the order of the calls, when the test lets them. */
class SlowDisk implements Disk {
  checkpoint: Uint8Array | null = null
  records: Uint8Array[] = []
  readonly #writes: (() => void)[] = []

  append(record: Uint8Array): Promise<void> {
    const copy = new Uint8Array(record)
    return new Promise((resolve) => {
      this.#writes.push(() => {
        this.records.push(copy)
        resolve()
      })
    })
  }

  writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void> {
    const bytes = 'copyTo' in checkpoint ? bytesOfImage(checkpoint) : new Uint8Array(checkpoint)
    return new Promise((resolve) => {
      this.#writes.push(() => {
        this.checkpoint = bytes
        this.records = []
        resolve()
      })
    })
  }

  write(): void {
    for (const write of this.#writes.splice(0)) write()
  }

  get waiting(): number {
    return this.#writes.length
  }

  read = () => ({ checkpoint: this.checkpoint, records: this.records })
  usage = () => ({ logBytes: 0, checkpointBytes: 0, limitBytes: 1000 })
  hasRoom = () => true
}

t.test('a checkpoint keeps a document that is being stored when it begins', async (test) => {
  const slow = new SlowDisk()
  const disk = new DiskWithDocuments(slow)
  const stored = disk.storeDocument('vote', encode({ term: 7 }))
  const written = disk.writeCheckpoint(new Uint8Array(8))
  slow.write()
  await Promise.all([stored, written])
  const restarted = new DiskWithDocuments(slow)
  restarted.readDocuments()
  test.same(restarted.document('vote'), encode({ term: 7 }))
})

t.test('a locked disk writes nothing, and keeps the order of what waits', async (test) => {
  const slow = new SlowDisk()
  const disk = new DiskWithDocuments(slow)
  const first = disk.append(Uint8Array.of(1, 0, 0, 0))
  let isLocked = false
  const locked = disk.lock().then(() => (isLocked = true))
  const later = [disk.append(Uint8Array.of(2, 0, 0, 0)), disk.writeCheckpoint(new Uint8Array(8))]
  const last = disk.append(Uint8Array.of(3, 0, 0, 0))
  test.equal(slow.waiting, 1)
  test.notOk(disk.appendNow(Uint8Array.of(4, 0, 0, 0)))
  await Promise.resolve()
  test.notOk(isLocked, 'the write in progress ends first')
  slow.write()
  await Promise.all([first, locked])
  test.same(slow.records, [Uint8Array.of(1, 0, 0, 0)])
  disk.unlock()
  slow.write()
  await Promise.all([...later, last])
  test.same(slow.records, [Uint8Array.of(3, 0, 0, 0)])
})
