import t from 'tap'
import type { z } from 'zod'
import type { FaultInput, FaultSpec } from '../src/index.js'
import type { verbTable } from '../src/faults/verb-table.js'

type Schema = ReturnType<(typeof verbTable)[number]['schema']>
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never
/** `crash.target`: optional fields do not matter to assignability. */
type Fields<F> = F extends { readonly verb: infer Verb extends string } ? `${Verb}.${keyof F & string}` : never

t.test('the types of faults are those of the schemas', async (t) => {
  // Checked by the compiler.
  const input: Same<FaultInput, z.input<Schema>> = true
  const spec: Same<FaultSpec, z.output<Schema>> = true
  const inputFields: Same<Fields<FaultInput>, Fields<z.input<Schema>>> = true
  const specFields: Same<Fields<FaultSpec>, Fields<z.output<Schema>>> = true
  t.ok(input && spec && inputFields && specFields)
})
