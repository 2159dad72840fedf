import { createRandom, DiskFullError, type Random } from '@shardlab/actor'
import t from 'tap'
import { DiskDamagedError } from '../src/disks/files/disk-damaged-error.js'
import { FileDisk } from '../src/disks/files/file-disk.js'
import { formatVersion } from '../src/disks/files/frame-codec.js'
import { errorOf, MemoryFiles } from './support/memory-files.js'

const seed = Number(process.env['SHARDLAB_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const isLong = process.env['SHARDLAB_LONG'] === '1'
const limitBytes = 64 * 1024 * 1024

/** Writes numbers, and knows which ones were acknowledged. A checkpoint has all numbers so far. */
class Writer {
  readonly files: MemoryFiles
  disk: FileDisk
  readonly repairs: string[] = []
  issued = 0
  acknowledged = 0
  readonly #waits: Promise<unknown>[] = []

  constructor(files = new MemoryFiles()) {
    this.files = files
    FileDisk.create(files, '')
    this.disk = this.#open()
    this.recover()
  }

  #open(limit = limitBytes): FileDisk {
    return new FileDisk({
      ...{ files: this.files, folder: '', limitBytes: limit },
      onRepaired: (message) => this.repairs.push(message),
    })
  }

  append(random: Random): void {
    const number = ++this.issued
    const record = Buffer.alloc(4 + random.below(random.below(20) === 0 ? 200_000 : 300), number)
    record.writeUInt32LE(number)
    const written = this.disk.append(record).then(() => {
      this.acknowledged = Math.max(this.acknowledged, number)
    })
    record.fill(0)
    this.#note(written)
  }

  checkpoint(): void {
    const number = this.issued
    const body = Buffer.alloc(4 + (number % 3) * 900_000, number)
    body.writeUInt32LE(number)
    // Images may be read in later turns.
    const image = {
      length: body.length,
      copyTo: (target: Uint8Array) => target.set(body),
      pieces: () => inPieces(body),
    }
    this.#note(
      this.disk.writeCheckpoint(number % 2 === 0 ? image : body).then(() => {
        this.acknowledged = Math.max(this.acknowledged, number)
      }),
    )
    if (number % 2 === 1) body.fill(0)
  }

  #note(wait: Promise<unknown>): void {
    wait.catch(() => {})
    this.#waits.push(wait)
  }

  async settled(): Promise<void> {
    await Promise.all(this.#waits.splice(0))
  }

  /** Opens what is on the disk. @returns the last number */
  recover(): number {
    this.disk.abandon()
    this.#waits.length = 0
    this.disk = this.#open()
    const { checkpoint, records } = this.disk.read()
    let last = 0
    if (checkpoint !== null) last = numberIn(checkpoint)
    for (const record of records) {
      if (numberIn(record) !== last + 1) throw new Error(`${numberIn(record)} follows ${last}`)
      last++
    }
    if (last < this.acknowledged) throw new Error(`${this.acknowledged} was acknowledged, and ${last} is the last one`)
    if (last > this.issued) throw new Error(`${last} was never written`)
    this.issued = last
    // The member tells others what it has recovered.
    this.acknowledged = last
    return last
  }

  /** Of an append, unless a checkpoint comes before it. */
  async failFlush(random: Random): Promise<void> {
    this.files.flushErrors.push(errorOf('EIO'))
    this.append(random)
    await Promise.allSettled(this.#waits.splice(0))
    this.files.flushErrors.length = 0
  }

  /** With kills and shutdowns. */
  async workUntilPowerFails(random: Random): Promise<void> {
    while (!this.files.hasPowerFailed)
      try {
        await this.work(random, random.below(30))
        if (random.below(2) === 0) await this.disk.close()
        this.recover()
      } catch (error) {
        if (!this.files.hasPowerFailed) throw error
      }
    this.disk.abandon()
  }

  async work(random: Random, steps: number): Promise<void> {
    for (let i = 0; i < steps; i++) {
      const step = random.below(12)
      if (step === 0) this.checkpoint()
      else if (step < 9) this.append(random)
      else if (step < 11) await new Promise(setImmediate)
      else await this.settled()
    }
  }
}

function* inPieces(body: Uint8Array): Generator<Uint8Array, void, void> {
  for (let at = 0; at < body.length; at += 70_000) yield body.subarray(at, at + 70_000)
}

function numberIn(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes)
  const number = buffer.readUInt32LE()
  const body = buffer.subarray(4)
  if (!body.equals(Buffer.alloc(body.length, number % 256))) throw new Error(`${number} has wrong bytes`)
  return number
}

const lives = isLong ? 400 : 12

t.test('after a kill, a power loss or a shutdown the disk has all acknowledged writes, in order', async (test) => {
  for (let round = 0; round < lives; round++) {
    const random = createRandom(seed).fork(`round ${round}`)
    try {
      const writer = new Writer()
      for (let life = 0; life < 4; life++) {
        await writer.work(random, random.below(60))
        const end = random.below(4)
        if (end < 2) writer.disk.abandon()
        if (end === 1) writer.files.losePower(random)
        if (end === 2) await writer.failFlush(random)
        if (end === 3) await writer.disk.close()
        writer.recover()
        if (random.below(2) === 0) continue
        // All that recovery has served is on the disk.
        writer.disk.abandon()
        writer.files.losePower(random)
        writer.recover()
      }
    } catch (error) {
      test.fail(`SHARDLAB_SEED=${seed}, round ${round}: ${(error as Error).message}`)
      return
    }
  }
  test.pass(`${lives} rounds of seed ${seed}`)
})

t.test(
  'power that fails in any call of the file system loses no acknowledged write, and nothing served',
  async (test) => {
    for (let round = 0; round < lives * 2; round++) {
      const random = createRandom(seed).fork(`power ${round}`)
      try {
        const writer = new Writer()
        for (let life = 0; life < 4; life++) {
          writer.files.failPowerAfter(random.below(random.below(2) === 0 ? 30 : 150))
          await writer.workUntilPowerFails(random)
          writer.files.losePower(random)
          writer.recover()
        }
      } catch (error) {
        test.fail(`SHARDLAB_SEED=${seed}, round ${round}: ${(error as Error).stack}`)
        return
      }
    }
    test.pass(`${lives * 2} rounds of seed ${seed}`)
  },
)

t.test('appends that arrive during a flush share the next one', async (test) => {
  const writer = new Writer()
  const random = createRandom(1)
  const before = writer.files.flushes
  for (let i = 0; i < 100; i++) writer.append(random)
  await writer.settled()
  test.equal(writer.files.flushes - before, 2)
})

const damages = isLong ? 400 : 40

for (const end of ['kill', 'shutdown'] as const)
  t.test(`${damages / 2} truncations and as many changed bytes after a ${end} are detected and named`, async (test) => {
    let refused = 0
    let repaired = 0
    for (let round = 0; round < damages; round++) {
      const random = createRandom(seed).fork(`damage ${end} ${round}`)
      const writer = new Writer()
      await writer.work(random, 10 + random.below(40))
      await writer.settled()
      const { acknowledged } = writer
      if (end === 'kill') writer.disk.abandon()
      else await writer.disk.close()
      const names = writer.files.namesSync('')
      const name = names[random.below(names.length)]!
      const bytes = Buffer.from(writer.files.file(name))
      if (round % 2 === 0) writer.files.damage(name, bytes.subarray(0, random.below(bytes.length)))
      else {
        const at = random.below(bytes.length)
        bytes[at] = bytes[at]! ^ (1 + random.below(255))
        writer.files.damage(name, bytes)
      }
      const say = (what: string) =>
        test.fail(`SHARDLAB_SEED=${seed}, damage ${round} after a ${end} in ${name} of ${names.join()}: ${what}`)
      try {
        // What a torn last write loses is reported, and the rest is in order.
        writer.acknowledged = 0
        const last = writer.recover()
        const isReported = writer.repairs.some((message) => message.includes(name))
        // A file that is cut after its last record has lost zeros.
        const isHarmless = round % 2 === 0 && last === acknowledged
        if (!isReported && !isHarmless) return void say('the disk opened without a report')
        if (end === 'shutdown' && last !== acknowledged) return void say(`${acknowledged - last} writes are gone`)
        repaired++
      } catch (error) {
        if (!(error instanceof DiskDamagedError)) return void say(`${(error as Error).stack}`)
        if (!error.message.includes(name)) return void say(`the error does not name it: ${error.message}`)
        refused++
      }
    }
    test.pass(`${refused} refused, ${repaired} repaired`)
    test.comment(`${refused} refused, ${repaired} repaired`)
  })

t.test('a full disk refuses writes, loses nothing, and accepts writes when space returns', async (test) => {
  const writer = new Writer()
  const random = createRandom(seed)
  writer.files.capacityBytes = 4 * 1024 * 1024
  let refused = false
  while (!refused) {
    const number = writer.issued
    writer.append(random)
    await writer.settled().catch((error: unknown) => {
      test.ok(error instanceof DiskFullError)
      refused = true
      writer.issued = number
    })
  }
  test.notOk(writer.disk.hasRoom(1000))
  test.equal(writer.recover(), writer.acknowledged)
  await test.rejects(writer.disk.writeCheckpoint(Buffer.alloc(4_500_000)), DiskFullError)
  test.equal(writer.recover(), writer.acknowledged)
  writer.files.capacityBytes = limitBytes
  test.ok(writer.disk.hasRoom(1000))
  writer.append(random)
  await writer.settled()
  writer.checkpoint()
  await writer.settled()
  test.equal(writer.recover(), writer.acknowledged)
})

t.test(
  'a file that is cut inside of its zeros has lost nothing, and one that is cut after a record is reported',
  async (test) => {
    const writer = new Writer()
    const random = createRandom(seed)
    for (let i = 0; i < 5; i++) writer.append(random)
    await writer.settled()
    writer.disk.abandon()
    const name = 'log-00000001'
    const bytes = Buffer.from(writer.files.file(name))
    const end = bytes.findLastIndex((byte) => byte !== 0) + 1
    writer.files.damage(name, bytes.subarray(0, end + 1000))
    test.equal(writer.recover(), 5)
    test.equal(writer.files.file(name).length, bytes.length, 'its zeros are written again')
    test.strictSame(writer.repairs, [])
    writer.files.damage(name, bytes.subarray(0, end))
    test.equal(writer.recover(), 5)
    test.match(writer.repairs.join(), new RegExp(`${name} ends at byte ${end}, after a record, as on a full disk`))
  },
)

t.test('a start that writes nothing leaves the note of the shutdown to the next one', async (test) => {
  const writer = new Writer()
  const random = createRandom(seed)
  for (let i = 0; i < 5; i++) writer.append(random)
  await writer.settled()
  await writer.disk.close()
  const name = 'log-00000001'
  const bytes = Buffer.from(writer.files.file(name))
  test.equal(writer.recover(), 5)
  writer.files.damage(
    name,
    bytes.fill(
      0,
      bytes.findLastIndex((byte) => byte !== 0),
    ),
  )
  test.throws(() => writer.recover(), /log-00000001 is damaged at byte \d+: its records end at byte \d+ instead of/)
})

t.test('an append and a checkpoint remove the note of the shutdown', async (test) => {
  for (const change of ['append', 'checkpoint'] as const) {
    const writer = new Writer()
    const random = createRandom(seed)
    writer.append(random)
    await writer.settled()
    await writer.disk.close()
    writer.recover()
    test.ok(writer.files.namesSync('').includes('closed'))
    if (change === 'append') writer.append(random)
    else writer.checkpoint()
    await writer.settled()
    test.notOk(writer.files.namesSync('').includes('closed'))
    writer.disk.abandon()
    writer.files.losePower(random)
    test.equal(writer.recover(), writer.acknowledged)
  }
})

t.test('a process without memory refuses writes until it has some', async (test) => {
  const writer = new Writer()
  writer.files.freeMemoryBytes = 1_000_000
  test.notOk(writer.disk.hasRoom(1000))
  writer.files.freeMemoryBytes = 2 ** 30
  await new Promise((resolve) => setTimeout(resolve, 110))
  test.ok(writer.disk.hasRoom(1000))
})

t.test('after a failed flush nothing is acknowledged until the disk is opened again', async (test) => {
  const writer = new Writer()
  const random = createRandom(seed)
  writer.append(random)
  await writer.settled()
  writer.files.flushErrors.push(new Error('EIO'))
  await test.rejects(writer.disk.append(Buffer.alloc(8)), /EIO/)
  await test.rejects(writer.disk.append(Buffer.alloc(8)), /EIO/)
  await test.rejects(writer.disk.writeCheckpoint(Buffer.alloc(8)), /EIO/)
})

t.test('files of another version of the format are refused with both versions', async (test) => {
  const writer = new Writer()
  const bytes = Buffer.from(writer.files.file('log-00000001'))
  const { crc32 } = await import('node:zlib')
  bytes.writeUInt32LE(formatVersion + 1, 8)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 40)), 40)
  writer.files.damage('log-00000001', bytes)
  test.throws(() => writer.recover(), /log-00000001 has version 2 of the format, and this Shardlab reads version 1/)
})

t.test('a log file that is missing, or of another disk, is refused', async (test) => {
  const writer = new Writer()
  const random = createRandom(seed)
  writer.files.capacityBytes = 3 * 1024 * 1024
  writer.append(random)
  await writer.settled()
  await writer.disk.writeCheckpoint(Buffer.alloc(2_500_000)).catch(() => {})
  test.strictSame(writer.files.namesSync('').toSorted(), ['log-00000001', 'log-00000002'])
  const first = Buffer.from(writer.files.file('log-00000001'))
  writer.files.damage('log-00000001', Buffer.from(new Writer().files.file('log-00000001')))
  test.throws(() => writer.recover(), /log-00000002 is damaged at byte 16: it belongs to another member/)
  writer.files.damage('log-00000001', first)
  writer.files.removeSync('log-00000001')
  test.throws(() => writer.recover(), /log-00000001 is damaged: the file is missing/)
})
