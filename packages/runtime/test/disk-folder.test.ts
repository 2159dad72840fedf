import { createRandom, type Random } from '@shardlab/actor'
import t from 'tap'
import { DiskDamagedError } from '../src/disks/files/disk-damaged-error.js'
import { DiskFolder, type DiskOwner } from '../src/disks/files/disk-folder.js'
import { MemoryFiles } from './support/memory-files.js'

const seed = Number(process.env['SHARDLAB_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const rounds = process.env['SHARDLAB_LONG'] === '1' ? 1000 : 60

const owner = (address: string): DiskOwner => ({ address, role: 'shard', diskLimitBytes: 2 ** 26 })

/** What a member's disk may have: one number, nothing, or there is no such member. */
type Contents = number | 'empty' | 'absent'

/** Changes members, and knows what each of them may have when the power fails. */
class World {
  readonly files = new MemoryFiles()
  readonly #possible = new Map<string, readonly Contents[]>()
  #folder = new DiskFolder('', this.files)
  #lastNumber = 0

  #possibleOf(address: string): readonly Contents[] {
    return this.#possible.get(address) ?? ['absent']
  }

  #change(address: string, to: Contents, change: () => void): void {
    this.#possible.set(address, [...this.#possibleOf(address), to])
    change()
    this.#possible.set(address, [to])
  }

  async step(random: Random): Promise<void> {
    const address = `shard0${random.below(4)}`
    const exists = this.#folder.stored().some((member) => member.address === address)
    const step = random.below(6)
    if (!exists) this.#change(address, 'empty', () => this.#folder.prepare(owner(address)))
    else if (step === 0) this.#change(address, 'empty', () => this.#folder.replace(owner(address)))
    else if (step === 1) this.#change(address, 'absent', () => this.#folder.remove(address))
    else if (step === 2) this.#folder.noteEndpoint(address, `localhost:${random.below(1000)}`)
    else await this.#write(address)
  }

  async #write(address: string): Promise<void> {
    const number = ++this.#lastNumber
    this.#possible.set(address, [...this.#possibleOf(address), number])
    const disk = this.#folder.open(this.#folder.prepare(owner(address)), () => {})
    const { records } = disk.read()
    for (const record of records) void record
    await disk.append(Buffer.from([number]))
    this.#possible.set(address, [number])
    await disk.close()
  }

  /** @throws Error a member has something else than it may have */
  recover(): void {
    this.#folder = new DiskFolder('', this.files)
    const addresses = this.#folder.stored().map(({ address }) => address)
    for (const [address, possible] of this.#possible) {
      const found = addresses.includes(address) ? this.#contentsOf(address) : 'absent'
      if (!possible.includes(found)) throw new Error(`${address} has ${found} instead of ${possible.join(' or ')}`)
      this.#possible.set(address, [found])
    }
    const names = this.files.namesSync('members').toSorted()
    if (names.join() !== addresses.toSorted().join()) throw new Error(`${names.join()} is there`)
  }

  #contentsOf(address: string): Contents {
    const disk = this.#folder.open(this.#folder.prepare(owner(address)), () => {})
    const numbers = [...disk.read().records].map((record) => record[0]!)
    disk.abandon()
    return numbers.at(-1) ?? 'empty'
  }
}

t.test('power that fails in any call leaves each member with its former disk, or with its new one', async (test) => {
  for (let round = 0; round < rounds; round++) {
    const random = createRandom(seed).fork(`round ${round}`)
    const world = new World()
    try {
      for (let life = 0; life < 4; life++) {
        world.files.failPowerAfter(random.below(100))
        while (!world.files.hasPowerFailed)
          try {
            await world.step(random)
            if (random.below(10) === 0) world.recover()
          } catch (error) {
            if (!world.files.hasPowerFailed) throw error
          }
        world.files.losePower(random)
        world.recover()
      }
    } catch (error) {
      test.fail(`SHARDLAB_SEED=${seed}, round ${round}: ${(error as Error).stack}`)
      return
    }
  }
  test.pass(`${rounds} rounds of seed ${seed}`)
})

t.test('a folder, its member.json and the list of members are missed, and nothing is removed', async (test) => {
  const missing: readonly [name: string, error: RegExp][] = [
    ['/members/shard01', /^\/members\/shard01 is damaged: the folder is missing/],
    ['/members/shard02/member.json', /^\/members\/shard02\/member\.json is damaged: the file is missing/],
    ['/members.json', /^\/members\.json is damaged: the file is missing/],
  ]
  for (const [name, message] of missing) {
    const files = new MemoryFiles()
    const folder = new DiskFolder('', files)
    for (const address of ['shard01', 'shard02']) folder.prepare(owner(address))
    files.removeSync(name)
    try {
      void new DiskFolder('', files)
      test.fail(`the start without ${name} was not refused`)
    } catch (error) {
      test.ok(error instanceof DiskDamagedError)
      test.match((error as Error).message, message)
    }
    test.ok(files.file('/members/shard02/log-00000001').length > 0)
  }
})

t.test('a disk with a name of its own is the same for members of other addresses', async (test) => {
  const files = new MemoryFiles()
  const stored = (): DiskFolder => new DiskFolder('', files, () => 'data')
  const disk = stored().open(stored().prepare(owner('rs-1')), () => {})
  for (const record of disk.read().records) void record
  await disk.append(Buffer.from([7]))
  await disk.close()
  const again = stored()
  test.match(again.stored(), [{ address: 'data' }])
  const reopened = again.open(again.prepare(owner('rs-2')), () => {})
  test.same(
    [...reopened.read().records].map((record) => record[0]),
    [7],
  )
  reopened.abandon()
  again.remove('rs-2')
  test.same(again.stored(), [])
})
