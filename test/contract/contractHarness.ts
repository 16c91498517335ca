import type { ICredentialDataDecryptedObject, INode } from 'n8n-workflow';
import { engineHarness, harness } from '../engine';
import { FieldsSeen, schemaFaults, type SchemaKey } from '../schema/schemas';
import { dialects, type Dialect, type Simulator } from '../simulator';
import { credentialFor } from './credentialFor';
import { simulatorWithSockets } from './simulatedNodes';
import { unguessable } from './unguessable';

const services: { [name: string]: Dialect } = {
	...dialects,
	'with names that nobody could guess': unguessable,
};

export type ContractHarness = {
	simulator(): Simulator;
	/** A node with a credential for the simulator. `data` replaces some of its fields. */
	node(
		type: string,
		overrides: Partial<INode>,
		data?: ICredentialDataDecryptedObject,
	): Promise<INode>;
};

/**
 * Runs the same cases with a service of each dialect. Only the fields of the credential and the
 * values that a case takes from its dialect differ.
 */
export function describeContract(
	cases: (harness: ContractHarness, dialect: Dialect) => void,
): void {
	engineHarness();
	describe.each(Object.entries(services))('dialect %s', (_name, dialect) => {
		cases(harnessOf(dialect), dialect);
	});
}

function harnessOf(dialect: Dialect): ContractHarness {
	const simulator = simulatorWithSockets(dialect);
	return {
		simulator,
		node: async (type, overrides, data = {}) =>
			await harness.nodeWith({ ...credentialFor(simulator()), ...data }, type, overrides),
	};
}

/** Expects records that fit the schema of a trigger, and together have each of its fields. */
export function expectSchema(key: SchemaKey, records: object[]): void {
	expect(records.flatMap((record) => schemaFaults(key, record))).toEqual([]);
	const seen = new FieldsSeen();
	for (const record of records) seen.add(key.node, record);
	expect(seen.missing(key, key.node)).toEqual([]);
}
