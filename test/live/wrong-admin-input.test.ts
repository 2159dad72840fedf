/**
 * Wrong input to every admin command: the error code is the server's, and neither catalog nor data
 * change.
 */
import t from 'tap'
import { administrationCases } from './wrong-input/administration.js'
import { triedVersions, type WrongInput } from './wrong-input/cases.js'
import { chunkCases } from './wrong-input/chunks.js'
import { otherDatabaseCases } from './wrong-input/other-databases.js'
import { collectionCases } from './wrong-input/collections.js'
import { movingCases } from './wrong-input/moving.js'
import { reshardingCases } from './wrong-input/resharding.js'
import { unbuiltCases } from './wrong-input/unbuilt.js'
import { World } from './wrong-input/world.js'

const cases: readonly WrongInput[] = [
  ...collectionCases,
  ...reshardingCases,
  ...movingCases,
  ...chunkCases,
  ...administrationCases,
  ...otherDatabaseCases,
  ...unbuiltCases,
]

const nameOf = ({ command }: WrongInput) => Object.keys(command)[0]!

for (const version of triedVersions) {
  t.test(`wrong admin commands get the server's code as ${version}`, async (t) => {
    const world = await World.start(version)
    t.teardown(() => world.stop())
    let data = await world.data()
    const tried = cases.filter(({ answers }) => answers[version] !== 'untried')
    for (const name of new Set(tried.map(nameOf))) {
      await t.test(name, async (t) => {
        let catalog = await world.catalog()
        for (const { what, command, db, to, answers } of tried.filter((wrong) => nameOf(wrong) === name)) {
          const { answer, reply } = await world.answer(db, command, to)
          t.equal(answer, answers[version], `${what}: ${JSON.stringify(command)} → ${String(reply['errmsg'])}`)
          if (typeof answer === 'number')
            t.equal(typeof reply['codeName'], version === '2.6' ? 'undefined' : 'string', 'the name of the code')
          const after = await world.catalog()
          t.same(after, catalog, `${what}: the catalog is as before`)
          catalog = after
        }
        const now = await world.data()
        t.same(now, data, "the shards' data are unchanged")
        data = now
      })
    }
  })
}
