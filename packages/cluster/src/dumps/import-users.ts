/** Users and roles of a dump, which are merged as mongorestore does. */
import { documentsInFile, type DumpedCollection } from './dump-files.js'
import type { DumpClient } from './dump-client.js'

const usersName = 'system.users'
const rolesName = 'system.roles'
/** Of the database admin. */
export const userCollections = [usersName, rolesName] as const

/** Where mongorestore puts them first; the role restore may read them there. */
const temporaryNames = { [usersName]: 'tempusers', [rolesName]: 'temproles' } as const

export const usersIn = (collections: readonly DumpedCollection[]): DumpedCollection[] =>
  collections.filter(
    ({ db, name, dataFile }) => db === 'admin' && dataFile !== null && userCollections.some((each) => each === name),
  )

/** Those that the cluster has already stay as they are. @throws DumpCommandError, OptionError */
export async function importUsers(client: DumpClient, users: readonly DumpedCollection[]): Promise<void> {
  if (users.length === 0) return
  const nameOf = ({ name }: DumpedCollection): string => temporaryNames[name as keyof typeof temporaryNames]
  const drop = async (): Promise<void> => {
    for (const each of users) await client.dropOfAdmin(nameOf(each))
  }
  // They may be left from another import.
  await drop()
  try {
    for (const each of users)
      for await (const documents of documentsInFile(each.dataFile!))
        await client.run('admin', (writer) => writer.string('insert', nameOf(each)), ['documents', documents])
    const given = users.map(
      (each) => [each.name === usersName ? 'tempUsersCollection' : 'tempRolesCollection', each] as const,
    )
    await client.run('admin', (writer) => {
      writer.int32('_mergeAuthzCollections', 1)
      for (const [argument, each] of given) writer.string(argument, `admin.${nameOf(each)}`)
      return writer.string('db', '').bool('drop', false)
    })
  } catch (error) {
    await drop().catch(() => {})
    throw error
  }
  await drop()
}
