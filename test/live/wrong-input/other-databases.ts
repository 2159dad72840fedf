/** Commands of `admin` on another database. Server: commands.cpp, checkAuthorization. */
import { wrong, type WrongInput } from './cases.js'
import { validCommands } from './valid.js'

/** Commands that are newer than 4.4. */
const younger = new Set([
  'moveRange',
  'mergeAllChunksOnShard',
  'configureCollectionBalancing',
  'analyzeShardKey',
  'configureQueryAnalyzer',
])

const unauthorized = 13

export const otherDatabaseCases: readonly WrongInput[] = validCommands
  .filter(({ db }) => db === 'admin')
  .map(({ command }) => ({ command, name: Object.keys(command)[0]! }))
  .filter(({ name }, i, all) => all.findIndex((other) => other.name === name) === i)
  .map(({ command, name }) =>
    wrong('another database', command, younger.has(name) ? { '7.0': unauthorized } : unauthorized, { db: 'app' }),
  )
