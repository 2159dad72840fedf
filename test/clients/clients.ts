/**
 * The clients that are run against a cluster, each with its script: how to check that it is
 * installed, and how to run it.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ShardedCluster } from 'shardlab'
import { run } from '../support/up.js'

const folder = fileURLToPath(new URL('../../clients/', import.meta.url))
const script = (name: string): string => join(folder, 'scripts', name)
const installed = (path: string): boolean => existsSync(join(folder, 'node_modules', path))

/**
 * What a client gets: `uri` names all routers; `workFolder` is empty and used by this client only.
 */
export interface ClientRun {
  readonly uri: string
  readonly database: string
  readonly workFolder: string
}

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Client {
  /** The name in messages. */
  readonly name: string
  /** Its URI must have a user that may create others. */
  readonly needsUser?: true
  /** Why it cannot run here; null: it can. */
  readonly missing: () => Promise<string | null>
  /** Runs its script, which exits with code 0 and prints `fine` as its last word. */
  readonly run: (context: ClientRun) => Promise<Outcome>
}

const answers = (command: string, ...args: string[]): Promise<boolean> =>
  run(command, args).then(
    ({ code }) => code === 0,
    () => false,
  )

/** Every client's environment, without the settings of the user who runs this. */
const environment = (workFolder: string, more: Record<string, string> = {}): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: workFolder,
  LANG: 'C.UTF-8',
  PYTHONDONTWRITEBYTECODE: '1',
  ...more,
})

/** A client from Debian packages: one program with URI and database as arguments. */
function debian(
  name: string,
  packages: string,
  works: () => Promise<boolean>,
  command: readonly string[],
  env = {},
): Client {
  return {
    name,
    missing: async () => ((await works()) ? null : `Debian's ${packages} are not installed`),
    run: ({ uri, database, workFolder }) =>
      run(command[0]!, [...command.slice(1), uri, database], { env: environment(workFolder, env) }),
  }
}

/** A client that must be compiled first. */
function compiled(
  name: string,
  packages: string,
  works: () => Promise<boolean>,
  compile: (workFolder: string) => readonly string[],
  env: (workFolder: string) => Record<string, string> = () => ({}),
): Client {
  return {
    name,
    missing: async () => ((await works()) ? null : `Debian's ${packages} are not installed`),
    run: async ({ uri, database, workFolder }) => {
      const [command, ...args] = compile(workFolder) as [string, ...string[]]
      const build = await run(command, args, { env: environment(workFolder, env(workFolder)) })
      return build.code === 0 ? run(join(workFolder, 'crud'), [uri, database], { env: environment(workFolder) }) : build
    },
  }
}

function nodeDriver(packageName: string, version: string): Client {
  return {
    name: `Node.js driver ${version}`,
    missing: async () => (installed(packageName) ? null : `npm's ${packageName} is not installed in test/clients`),
    run: ({ uri, database, workFolder }) =>
      run(process.execPath, [script('node-driver.mjs'), packageName, uri, database], { env: environment(workFolder) }),
  }
}

/** @param on another deployment than the cluster of the clients, if it passes its URI */
function mongooseTransactions(name: string, on: (run: (uri?: string) => Promise<Outcome>) => Promise<Outcome>): Client {
  return {
    name,
    missing: async () => (installed('mongoose') ? null : "npm's mongoose is not installed in test/clients"),
    run: ({ uri, database, workFolder }) =>
      on((other) =>
        run(process.execPath, [script('mongoose-transactions.mjs'), other ?? uri, database], {
          env: environment(workFolder),
        }),
      ),
  }
}

const python = '/usr/bin/python3'
const jars = ['mongo-java-driver.jar', 'bson.jar'].map((name) => `/usr/share/java/${name}`)
const goPath = '/usr/share/gocode'

/** The shell's own tests, which start two dozen shells in sequence. */
export const smokeTests = 'mongosh --smokeTests'

export const clients: readonly Client[] = [
  nodeDriver('mongodb3', '3.7'),
  nodeDriver('mongodb4', '4.17'),
  nodeDriver('mongodb5', '5.9'),
  nodeDriver('mongodb6', '6.22'),
  nodeDriver('mongodb', '7'),
  {
    name: 'Mongoose',
    missing: async () => (installed('mongoose') ? null : "npm's mongoose is not installed in test/clients"),
    run: ({ uri, database, workFolder }) =>
      run(process.execPath, [script('mongoose-models.mjs'), uri, database], { env: environment(workFolder) }),
  },
  mongooseTransactions('Mongoose, transactions', (run) => run()),
  mongooseTransactions('Mongoose, transactions on a replica set', async (run) => {
    const set = await ShardedCluster.start({ topology: 'replica-set', members: 3 })
    try {
      return await run(set.uri)
    } finally {
      await set.stop()
    }
  }),
  {
    name: smokeTests,
    missing: async () => (installed('.bin/mongosh') ? null : "npm's mongosh is not installed in test/clients"),
    run: async ({ uri, workFolder }) => {
      const outcome = await run(join(folder, 'node_modules', '.bin', 'mongosh'), ['--smokeTests'], {
        env: environment(workFolder, { MONGOSH_SMOKE_TEST_SERVER: uri }),
      })
      return { ...outcome, stdout: outcome.code === 0 ? `${outcome.stdout}\nfine\n` : outcome.stdout }
    },
  },
  debian('PyMongo', 'python3-pymongo', () => answers(python, '-c', 'import pymongo'), [python, script('crud.py')]),
  {
    ...debian('PyMongo, logins', 'python3-pymongo', () => answers(python, '-c', 'import pymongo'), [
      python,
      script('logins.py'),
    ]),
    needsUser: true,
  },
  debian('MongoEngine', 'python3-mongoengine', () => answers(python, '-c', 'import mongoengine'), [
    python,
    script('models.py'),
  ]),
  compiled(
    'libmongoc',
    'gcc, pkg-config and libmongoc-dev',
    async () => (await answers('gcc', '--version')) && answers('pkg-config', '--exists', 'libmongoc-1.0'),
    (workFolder) => [
      'sh',
      '-c',
      `gcc -o '${workFolder}/crud' '${script('crud.c')}' $(pkg-config --cflags --libs libmongoc-1.0)`,
    ],
  ),
  debian('PHP', 'php-cli and php-mongodb', () => answers('php', '-r', 'exit(extension_loaded("mongodb") ? 0 : 1);'), [
    'php',
    script('crud.php'),
  ]),
  debian('Ruby', 'ruby-mongo', () => answers('ruby', '-rmongo', '-e', ''), ['ruby', '-W0', script('crud.rb')]),
  debian('Perl', 'libmongodb-perl', () => answers('perl', '-MMongoDB', '-e', '1'), ['perl', script('crud.pl')]),
  compiled(
    'Go',
    'golang-go and golang-mongodb-mongo-driver-dev',
    async () => existsSync(join(goPath, 'src/go.mongodb.org/mongo-driver')) && answers('go', 'version'),
    (workFolder) => ['go', 'build', '-o', join(workFolder, 'crud'), script('crud.go')],
    (workFolder) => ({ GO111MODULE: 'off', GOPATH: goPath, GOCACHE: join(workFolder, 'cache'), GOFLAGS: '-p=2' }),
  ),
  debian(
    'Java',
    'default-jdk-headless and libmongodb-java',
    async () => jars.every((path) => existsSync(path)) && answers('javac', '-version'),
    ['java', '-cp', jars.join(':'), script('Crud.java')],
  ),
]
