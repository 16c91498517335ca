import { loader } from '../engine';
import {
	FieldsSeen,
	hasSchema,
	keysOf,
	nameOf,
	schemaFaults,
	type SchemaKey,
} from '../schema/schemas';
import { dialects, type Dialect } from '../simulator';
import { contractCases } from './cases';
import { perDialect, type ContractCase } from './contractCase';
import { checkCase, describeContract } from './contractHarness';
import { endpointOf, ENDPOINTS } from '../openapi/openapi';
import { operationNamed, TRIGGER } from '../operations/operations';

const nodes = Object.entries(contractCases).map(([node, cases]) => ({ node, cases }));

const fieldsSeen = new FieldsSeen();
const usedEndpoints = new Set<string>();
let remainingCases = 0;

describeContract((harness, dialect) => {
	describe.each(nodes)(
		'$node: sends the token with each request and nowhere else, and each body as JSON',
		({ node, cases }) => {
			remainingCases += cases.length;
			it.each(cases)('$title', async (contract) => {
				const json = await checkCase(harness, node, contract);
				for (const { method, path } of harness.simulator().requests)
					usedEndpoints.add(endpointOf(method, path));
				remainingCases -= 1;
				const key = keyOf(node, contract, dialect);
				if (!hasSchema(key)) return;
				expect(json.flatMap((item) => schemaFaults(key, item))).toEqual([]);
				for (const item of json) fieldsSeen.add(nameOf(key), item);
			});
		},
	);
});

/** Those that send requests to a trigger in n8n are in test/nodes/ChatSession. */
const keys = () =>
	keysOf(loader.types.nodes).filter(
		(key) => !key.node.endsWith('Trigger') && operationNamed(nameOf(key)).sends !== TRIGGER,
	);

/** The schema key of a case's operation. */
function keyOf(node: string, { parameters }: ContractCase, dialect: Dialect): SchemaKey {
	const { operation } = perDialect(parameters, dialect);
	const found = keys().find((key) => key.node === node && key.operation === operation);
	if (found === undefined) throw new Error(`No operation ${JSON.stringify(operation)} of ${node}`);
	return found;
}

it('has a case for each operation', () => {
	const covered = nodes.flatMap(({ node, cases }) =>
		cases.map((contract) => nameOf(keyOf(node, contract, dialects.plain))),
	);
	expect([...new Set(covered)].sort()).toEqual(keys().map(nameOf).sort());
});

// Only if every case has run, because a run can be limited to some cases.
afterAll(() => {
	if (remainingCases > 0) return;
	const withSchema = keys().filter(hasSchema);
	const missing = withSchema.flatMap((key) =>
		fieldsSeen.missing(key, nameOf(key)).map((field) => `${nameOf(key)} › ${field}`),
	);
	if (missing.length > 0)
		throw new Error(`No case returns these fields of a schema: ${missing.join()}`);
	const unused = ENDPOINTS.map(({ name }) => name).filter((name) => !usedEndpoints.has(name));
	if (unused.length > 0) throw new Error(`No case sends a request to ${unused.join()}`);
});
