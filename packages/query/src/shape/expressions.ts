/** Server: `Expression::serialize` with literals replaced by their types. */
import { BsonType, DocumentWriter, elementsOf, FieldIterator, firstFieldName, type RawValue } from '@shardlab/bson'
import { literalText } from './literals.js'

/** Operators whose argument is a literal, and those whose argument is a name. */
const literalOperators: ReadonlySet<string> = new Set(['$literal', '$const'])
const namingOperators: ReadonlySet<string> = new Set(['$meta'])
/** Arguments of operators that name a variable. */
const namingArguments: ReadonlySet<string> = new Set(['as'])

export function writeExpression(writer: DocumentWriter, name: string, value: RawValue): void {
  if (value.type === BsonType.object) writeObject(writer, name, value)
  else if (value.type === BsonType.array && !isConstant(value)) writeList(writer, name, value)
  else if (isConstant(value)) writer.string(name, literalText(value))
  else writer.value(name, value)
}

function isConstant(value: RawValue): boolean {
  if (value.type === BsonType.array) return elementsOf(value).every(isConstant)
  return value.type === BsonType.string ? !value.asString().startsWith('$') : value.type !== BsonType.object
}

function writeList(writer: DocumentWriter, name: string, value: RawValue): void {
  writer.startArray(name)
  elementsOf(value).forEach((element, i) => writeExpression(writer, String(i), element))
  writer.end()
}

function writeObject(writer: DocumentWriter, name: string, value: RawValue): void {
  const it = new FieldIterator(value.bytes, value.start)
  const operator = firstFieldName(value.slice())
  if (operator !== undefined && literalOperators.has(operator) && it.next()) {
    writer.string(name, literalText(it.value()))
    return
  }
  writer.startDocument(name)
  while (it.next()) writeOperand(writer, it.name(), it.value())
  writer.end()
}

/** The elements of an operator's array are its operands, not one literal. */
function writeOperand(writer: DocumentWriter, name: string, value: RawValue): void {
  if (namingOperators.has(name) || (namingArguments.has(name) && value.type === BsonType.string))
    writer.value(name, value)
  else if (name.startsWith('$') && value.type === BsonType.array) writeList(writer, name, value)
  else writeExpression(writer, name, value)
}
