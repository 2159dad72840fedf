/** A cluster for each test, or each file, through the hooks of a test runner. */
import type { ShardedCluster } from '@shardlab/cluster'
import type { BroadcastReport } from './broadcasts/broadcast-report.js'
import { template, type Template, type TemplateOptions } from './template.js'

type Hook = (run: () => Promise<void>) => unknown

/**
 * The hooks of a runner: the module `node:test` or `vitest`, the `t` of tap, or `globalThis` in
 * Jest and Mocha.
 */
export interface RunnerHooks {
  readonly before?: unknown
  readonly beforeAll?: unknown
  readonly beforeEach?: unknown
  readonly afterEach?: unknown
  readonly after?: unknown
  readonly afterAll?: unknown
  readonly teardown?: unknown
}

export interface FixtureOptions extends TemplateOptions {
  /** `test`: every test has a cluster of its own. `file`: the tests of a file share one. */
  readonly per?: 'test' | 'file'
  /** Reports the broadcasts of tests, without those of `fill`. Default: none. */
  readonly report?: BroadcastReport
}

export class ClusterFixture {
  readonly #options: TemplateOptions
  readonly #report: BroadcastReport | undefined
  #template: Template | null = null
  #cluster: ShardedCluster | null = null

  constructor(options: TemplateOptions, report?: BroadcastReport) {
    this.#options = options
    this.#report = report
  }

  /** Of the test that runs. @throws Error outside of tests */
  get cluster(): ShardedCluster {
    if (this.#cluster === null) throw new Error('there is a cluster only while a test runs: use it in tests and hooks.')
    return this.#cluster
  }

  get uri(): string {
    return this.cluster.uri
  }

  /**
   * One more copy of the template, for tests that run at the same time or need two clusters. The
   * caller stops it: `await using cluster = await fixture.fork()`.
   */
  async fork(): Promise<ShardedCluster> {
    this.#template ??= await template(this.#options)
    const cluster = await this.#template.fork()
    this.#report?.follow(cluster)
    return cluster
  }

  /** For hooks; {@link useCluster} adds these two. */
  async begin(): Promise<void> {
    this.#cluster = await this.fork()
  }

  async end(): Promise<void> {
    const cluster = this.#cluster
    this.#cluster = null
    await cluster?.stop()
    this.#report?.write()
  }
}

/**
 * Adds hooks that give each test a fresh copy of a filled cluster.
 * @param runner see {@link RunnerHooks}
 * @throws Error the runner has no such hooks
 */
export function useCluster(
  runner: RunnerHooks,
  { per = 'test', report, ...options }: FixtureOptions = {},
): Omit<ClusterFixture, 'begin' | 'end'> {
  if (per !== 'test' && per !== 'file') throw new Error(`per is ${JSON.stringify(per)}; use test or file.`)
  const fixture = new ClusterFixture(options, report)
  const [first, last] =
    per === 'file'
      ? [hookOf(runner, 'beforeAll', 'before'), hookOf(runner, 'afterAll', 'after', 'teardown')]
      : [hookOf(runner, 'beforeEach'), hookOf(runner, 'afterEach')]
  first(() => fixture.begin())
  last(() => fixture.end())
  return fixture
}

function hookOf(runner: RunnerHooks | undefined, ...names: (keyof RunnerHooks)[]): Hook {
  const name = names.find((each) => typeof runner?.[each] === 'function')
  if (name === undefined)
    throw new Error(
      `the runner has no ${names.join(' or ')}: pass the module node:test or vitest, the t of tap, or globalThis in Jest and Mocha.`,
    )
  // Called on the runner: the hooks of tap are methods.
  return (run) => (runner![name] as Hook).call(runner!, run)
}
