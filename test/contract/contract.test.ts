import {
	activate,
	engineHarness,
	loader,
	makeWorkflow,
	nodeTypes,
	pollContext,
	webhookTrigger,
} from '../engine';
import {
	FieldsSeen,
	hasSchema,
	keysOf,
	nameOf,
	schemaFaults,
	type SchemaKey,
} from '../schema/schemas';
import { dialects, fixtures, type Dialect } from '../simulator';
import { eventually } from '../n8n/until';
import { contractCases } from './cases';
import { expectedEvents } from './chatEvents';
import { dependsOnDialect, perDialect, type ContractCase } from './contractCase';
import { checkCase, contractHarness } from './contractHarness';
import { endpointOf, ENDPOINTS } from '../openapi/openapi';
import { operationNamed, TRIGGER } from '../operations/operations';

const { calls, campaigns } = fixtures;
const include = ['transcript', 'recording'];
const pollTimes = { item: [{ mode: 'everyMinute' }] };

/** All cases with the plain dialect, and again those that another one changes. */
const nodesWith = (dialect: Dialect) =>
	Object.entries(contractCases).flatMap(([node, all]) => {
		const cases = dialect === dialects.plain ? all : all.filter(dependsOnDialect);
		return cases.length > 0 ? [{ node, cases }] : [];
	});

const fieldsSeen = new FieldsSeen();
const usedEndpoints = new Set<string>();
let remainingCases = 0;

engineHarness();
beforeAll(() => loader.loadEveryNode());

/** Only the profile and the values that a case takes from its dialect differ. */
describe.each(Object.values(dialects))('dialect $name', (dialect) => {
	const harness = contractHarness(dialect);

	describe.each(nodesWith(dialect))(
		'$node: sends the token with each request and nowhere else, and each body as JSON',
		({ node, cases }) => {
			remainingCases += cases.length;
			it.each(cases)('$title', async (contract) => {
				const json = await checkCase(harness, node, contract);
				for (const { method, path } of harness.simulator().requests)
					usedEndpoints.add(endpointOf(method, path));
				remainingCases -= 1;
				const key = keyOf(node, contract, dialect);
				// The schema is that of the default output.
				const { output } = perDialect(contract.parameters, dialect);
				if (!hasSchema(key) || output === 'raw') return;
				expect(json.flatMap((item) => schemaFaults(key, item))).toEqual([]);
				for (const item of json) fieldsSeen.add(nameOf(key), item);
			});
		},
	);

	/** A trigger that polls. Returns the output of each poll. */
	async function polling(type: string, parameters: object) {
		const node = await harness.node(type, { parameters: { ...parameters, pollTimes } });
		const workflow = makeWorkflow([node]);
		return async () => {
			const context = pollContext(workflow, node);
			const output = await nodeTypes.getByNameAndVersion(node.type).poll?.call(context);
			return (output?.[0] ?? []).map(({ json }) => json);
		};
	}

	test('Call Completed Trigger returns the record of the service, whatever the payload', async () => {
		const node = await harness.node('callCompletedTrigger', { parameters: { include } });
		const trigger = webhookTrigger(node);
		const records = [];
		for (const call_id of [calls.finished, calls.notPicked, calls.unusual]) {
			const body = dialect.webhook.body(call_id, { call_id, status: 'forged' });
			records.push(...(await trigger.deliver({ body })).items);
		}
		expect(records).toMatchObject([
			{
				call_id: calls.finished,
				phone_key: '919876500001',
				outcome: 'Answered',
				recording: { expires_in_seconds: 900 },
			},
			{ call_id: calls.notPicked, outcome: 'Not answered', transcript: [], recording: null },
			{ call_id: calls.unusual, outcome: 'Line dead' },
		]);
		expectSchema({ node: 'callCompletedTrigger', version: 2 }, records);
	});

	test('Campaign Calls Trigger returns the record of each completed call', async () => {
		const poll = await polling('campaignCallsTrigger', {
			campaignId: String(campaigns.active),
			startFrom: 'date',
			startDate: '2020-01-01T00:00:00Z',
			include,
		});
		const records = await poll();
		expect(records.length).toBeGreaterThan(10);
		expect(records.find(({ call_id: id }) => id === calls.finished)).toMatchObject({
			phone_key: '919876500001',
			outcome: 'Answered',
			recording: { expires_in_seconds: 900 },
		});
		expectSchema({ node: 'campaignCallsTrigger' }, records);
	});

	test.each(expectedEvents)('Chat Events Trigger returns the event $type', async (expected) => {
		const { type, trigger, payload, session = fixtures.sessions.open } = expected;
		const simulator = harness.simulator();
		const parameters = { sessionIds: session, eventTypes: [type] };
		const active = await activate(
			makeWorkflow([await harness.node('chatEventsTrigger', { parameters })]),
		);
		await eventually(() => simulator.sessions.openSockets(session) === 1);
		await trigger(simulator);
		await eventually(() => active.emitted.length === 1);
		await active.stop();
		const [item] = active.emitted[0]?.items[0] ?? [];
		expect(item?.json).toMatchObject({
			type,
			session_id: session,
			account_id: expect.anything(),
			ts: expect.anything(),
			event_id: expect.anything(),
			payload: perDialect(payload, dialect),
		});
		expectSchema({ node: 'chatEventsTrigger' }, [item?.json ?? {}]);
	});
});

/** Those that send requests to a trigger in n8n are in test/nodes/ChatSession. */
const keys = () =>
	keysOf(loader.types.nodes).filter(
		(key) => !key.node.endsWith('Trigger') && operationNamed(nameOf(key)).sends !== TRIGGER,
	);

/** Expects records that fit the schema of a trigger, and together have each of its fields. */
function expectSchema(key: SchemaKey, records: object[]): void {
	expect(records.flatMap((record) => schemaFaults(key, record))).toEqual([]);
	const seen = new FieldsSeen();
	for (const record of records) seen.add(key.node, record);
	expect(seen.missing(key, key.node)).toEqual([]);
}

/** The schema key of a case's operation. */
function keyOf(node: string, { parameters }: ContractCase, dialect: Dialect): SchemaKey {
	const { operation } = perDialect(parameters, dialect);
	const found = keys().find((key) => key.node === node && key.operation === operation);
	if (found === undefined) throw new Error(`No operation ${JSON.stringify(operation)} of ${node}`);
	return found;
}

it('has a case for each operation', () => {
	const covered = nodesWith(dialects.plain).flatMap(({ node, cases }) =>
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
