import { readSchema, type SchemaKey } from './schemas';

/** Collects the output fields of each operation. */
export class FieldsSeen {
	private readonly fields = new Map<string, Set<string>>();

	add(operation: string, output: object): void {
		const seen = this.fields.get(operation) ?? new Set();
		this.fields.set(operation, seen);
		for (const field of Object.keys(output)) seen.add(field);
	}

	/** Fields of the schema that no output had. A schema must not have them. */
	missing(key: SchemaKey, operation: string): string[] {
		const seen = this.fields.get(operation);
		return Object.keys(readSchema(key).properties ?? {}).filter((field) => !seen?.has(field));
	}
}
