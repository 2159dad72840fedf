import { DiskFullError, type Disk } from '@shardlab/actor'
import fc from 'fast-check'
import t from 'tap'
import { MemoryDisk } from '../src/disks/memory-disk.js'
import { createSharedDisk, SharedDisk, sizeOfSharedDisk } from '../src/disks/shared-disk.js'

/** `reopen` gives the disk that an actor has after a crash. */
interface Kind {
  readonly name: string
  create(limitBytes: number): { readonly disk: Disk; readonly reopen: () => Disk }
}

const kinds: readonly Kind[] = [
  {
    name: 'memory disk',
    create(limitBytes) {
      const disk = new MemoryDisk(limitBytes)
      return { disk, reopen: () => disk }
    },
  },
  {
    name: 'shared disk',
    create(limitBytes) {
      const buffers = createSharedDisk(limitBytes)
      return {
        disk: new SharedDisk(buffers, () => {}),
        reopen: () => new SharedDisk(structuredClone(buffers), () => {}),
      }
    },
  },
]

function contents(disk: Disk): { checkpoint: string | null; records: string[] } {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
  const { checkpoint, records } = disk.read()
  return { checkpoint: checkpoint === null ? null : text(checkpoint), records: Array.from(records, text) }
}

for (const kind of kinds) {
  t.test(`${kind.name}: records keep their order until a checkpoint replaces them`, async (test) => {
    const { disk, reopen } = kind.create(10_000)
    test.same(contents(disk), { checkpoint: null, records: [] })
    test.same(disk.usage(), { logBytes: 0, checkpointBytes: 0, limitBytes: 10_000 })
    await Promise.all([
      disk.append(Buffer.from('one')),
      disk.append(Buffer.from('')),
      disk.append(Buffer.from('three')),
    ])
    test.same(contents(reopen()), { checkpoint: null, records: ['one', '', 'three'] })
    await disk.writeCheckpoint(Buffer.from('all'))
    test.same(contents(reopen()), { checkpoint: 'all', records: [] })
    await reopen().append(Buffer.from('four'))
    test.same(contents(reopen()), { checkpoint: 'all', records: ['four'] })
    test.same(disk.usage(), { logBytes: 8, checkpointBytes: 3, limitBytes: 10_000 })
    await disk.writeCheckpoint(new Uint8Array(0))
    test.same(contents(reopen()), { checkpoint: '', records: [] }, 'an empty checkpoint differs from none')
  })

  t.test(`${kind.name}: writes and reads copy their bytes`, async (test) => {
    const { disk } = kind.create(1000)
    const pooled = Buffer.from('record')
    const written = disk.append(pooled)
    pooled.fill(0)
    await written
    const checkpoint = new Uint8Array([1, 2, 3])
    test.same(contents(disk).records, ['record'])
    const saved = disk.writeCheckpoint(checkpoint)
    checkpoint.fill(9)
    await saved
    test.same(disk.read().checkpoint, new Uint8Array([1, 2, 3]))
    test.notOk(disk.read().checkpoint!.buffer instanceof SharedArrayBuffer)
  })

  t.test(`${kind.name}: a write beyond the limit fails and changes nothing`, async (test) => {
    const { disk, reopen } = kind.create(100)
    await disk.append(new Uint8Array(50))
    await test.rejects(disk.append(new Uint8Array(43)), DiskFullError)
    await test.rejects(disk.writeCheckpoint(new Uint8Array(101)), /its limit is 100 bytes/)
    test.equal(contents(reopen()).records.length, 1)
    await disk.append(new Uint8Array(42))
    test.equal(disk.usage().logBytes, 100)
    await disk.writeCheckpoint(new Uint8Array(100))
    await test.rejects(disk.append(new Uint8Array(0)), DiskFullError)
    await disk.writeCheckpoint(new Uint8Array(10))
    await disk.append(new Uint8Array(86))
    await test.rejects(kind.create(0).disk.append(new Uint8Array(0)), DiskFullError)
  })
}

t.test('memory disks and shared disks behave the same', async (test) => {
  const action = fc.record({
    checkpoint: fc.boolean(),
    isPrompt: fc.boolean(),
    bytes: fc.uint8Array({ maxLength: 200 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      const disks = kinds.map((kind) => kind.create(1500))
      for (const { checkpoint, isPrompt, bytes } of actions) {
        const write = async ({ disk }: { readonly disk: Disk }): Promise<void> => {
          if (checkpoint) await disk.writeCheckpoint(bytes)
          else if (!isPrompt || !disk.appendNow!(bytes)) await disk.append(bytes)
        }
        const results = await Promise.allSettled(disks.map(write))
        if (results[0]!.status !== results[1]!.status) return false
        const [memory, shared] = disks.map(({ reopen }) => JSON.stringify([contents(reopen()), reopen().usage()]))
        if (memory !== shared) return false
      }
      return true
    }),
  )
  test.throws(() => createSharedDisk(2 ** 32), /less than 4 GiB/)
})

t.test('a shared disk grows as it fills', async (test) => {
  const buffers = createSharedDisk(16 * 1024 * 1024)
  const disk = new SharedDisk(buffers, () => {})
  test.equal(buffers.areas[0].byteLength, 0)
  for (let i = 0; i < 100; i++) await disk.append(new Uint8Array(100_000).fill(i))
  test.ok(buffers.areas[0].byteLength >= 10_000_400)
  const records = [...new SharedDisk(buffers, () => {}).read().records]
  test.ok(records.every((record, i) => record.length === 100_000 && record[0] === i && record.at(-1) === i))
})

t.test('a shared disk gives up the memory of contents that it no longer has', async (test) => {
  const buffers = createSharedDisk(1024 * 1024 * 1024)
  const owner = structuredClone(buffers)
  const reopened = () => contents(new SharedDisk(structuredClone(owner), () => {}))
  const disk = new SharedDisk(buffers, ({ diskId, area, buffer }, replacedBytes) => {
    test.equal(diskId, owner.id)
    test.equal(replacedBytes, owner.areas[area]!.byteLength)
    owner.areas[area] = buffer
    test.same(reopened(), contents(disk), 'a writer that ends now loses nothing')
  })
  const record = new Uint8Array(1_000_000)
  for (let i = 0; i < 60; i++) await disk.append(record)
  await disk.writeCheckpoint(new Uint8Array(50_000_000))
  const steady = [...buffers.areas]
  for (let i = 0; i < 100; i++) await disk.append(record)
  await disk.writeCheckpoint(new Uint8Array(50_000_000))
  test.same([...buffers.areas], steady, 'the areas are kept while the contents have one size')
  test.ok(sizeOfSharedDisk(owner) > 200_000_000)
  await disk.append(Buffer.from('before'))
  await disk.writeCheckpoint(Buffer.from('little'))
  test.ok(sizeOfSharedDisk(owner) < 1_000_000, `${sizeOfSharedDisk(owner)} bytes after a small checkpoint`)
  await disk.append(Buffer.from('after'))
  test.same(reopened(), { checkpoint: 'little', records: ['after'] })

  for (let i = 0; i < 10; i++) await disk.append(record)
  await disk.writeCheckpoint(Buffer.from('little'))
  await disk.append(Buffer.from('after'))
  test.ok(sizeOfSharedDisk(owner) > 10_000_000, 'a small area is kept for the next checkpoint')
  disk.trim()
  test.ok(sizeOfSharedDisk(owner) < 1_000_000, 'but not on an idle disk')
  test.same(reopened(), { checkpoint: 'little', records: ['after'] })

  await disk.append(Buffer.alloc(10_000_000))
  for (let i = 0; i < 2; i++) await disk.writeCheckpoint(Buffer.from('least'))
  await disk.append(Buffer.from('more'))
  test.ok(sizeOfSharedDisk(owner) > 10_000_000, 'the current area has been larger')
  disk.trim()
  test.ok(sizeOfSharedDisk(owner) < 1_000_000, 'its contents move to a smaller one')
  await disk.append(Buffer.from('last'))
  test.same(reopened(), { checkpoint: 'least', records: ['more', 'last'] })
})

t.test(
  'a clone of a memory disk has the records written before it, and both are independent after that',
  async (test) => {
    const disk = new MemoryDisk(1_000_000)
    for (let i = 0; i < 300; i++) await disk.append(Buffer.from(`before ${i}`))
    const copy = disk.clone()
    await disk.append(Buffer.from('mine'))
    await copy.append(Buffer.from('yours'))
    test.same([contents(disk).records.length, contents(copy).records.length], [301, 301])
    test.same([contents(disk).records[299], contents(copy).records[299]], ['before 299', 'before 299'])
    test.same([contents(disk).records[300], contents(copy).records[300]], ['mine', 'yours'])
  },
)

for (const kind of kinds) {
  t.test(`${kind.name}: an image reads as it was when it was written`, async (test) => {
    const { disk, reopen } = kind.create(1000)
    const written = Buffer.from('all')
    const image = { length: written.length, copyTo: (target: Uint8Array) => target.set(written) }
    await disk.append(Buffer.from('before'))
    await disk.writeCheckpoint(image)
    await disk.append(Buffer.from('after'))
    test.same(contents(reopen()), { checkpoint: 'all', records: ['after'] })
    test.equal(disk.usage().checkpointBytes, 3)
    await test.rejects(
      disk.writeCheckpoint({ length: 1001, copyTo: () => test.fail('the image is not read') }),
      DiskFullError,
    )
    test.same(contents(reopen()), { checkpoint: 'all', records: ['after'] })
  })
}

t.test('clones of a memory disk stay independent when any of them is written, checkpointed or cloned', async () => {
  const action = fc.record({
    which: fc.nat(),
    what: fc.constantFrom('append', 'append', 'append', 'append', 'copy', 'checkpoint'),
    length: fc.oneof(fc.nat(40), fc.nat(3000), fc.constantFrom(65_532, 65_533, 70_000)),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60, size: 'max' }), async (actions) => {
      const disks = [{ disk: new MemoryDisk(100_000_000), records: [] as string[] }]
      for (const [i, { which, what, length }] of actions.entries()) {
        const one = disks[which % disks.length]!
        if (what === 'copy' && disks.length < 4) disks.push({ disk: one.disk.clone(), records: [...one.records] })
        if (what === 'append') one.disk.appendNow(Buffer.alloc(length, i))
        if (what === 'append') one.records.push(`${length} of ${i}`)
        if (what === 'checkpoint') await one.disk.writeCheckpoint(new Uint8Array(1))
        if (what === 'checkpoint') one.records.length = 0
      }
      return disks.every(({ disk, records }) => {
        const found = Array.from(disk.read().records, (record) =>
          record.every((byte) => byte === record[0]) ? record : new Uint8Array(0),
        )
        const isSame = (record: Uint8Array, text: string) =>
          text === `${record.length} of ${record[0] ?? text.split(' ').at(-1)!}`
        return found.length === records.length && found.every((record, i) => isSame(record, records[i]!))
      })
    }),
  )
})
