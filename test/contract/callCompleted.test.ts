import { randomUUID } from 'node:crypto';
import { activate, makeWorkflow, nodeTypes, webhookContext, type ActiveWorkflow } from '../engine';
import { until } from '../n8n/until';
import { FieldsSeen } from '../schema/fieldsSeen';
import { schemaFaults } from '../schema/schemas';
import { fixtures } from '../simulator';
import { describeContract } from './contractHarness';

const { calls } = fixtures;
const type = 'callCompletedTrigger';

describeContract((harness, dialect) => {
	let active: ActiveWorkflow | undefined;
	afterEach(async () => await active?.stop());

	/** Delivers a completion webhook for each call. Returns the records that start the workflow. */
	async function deliver(...callIds: string[]) {
		// A new node ID, because n8n's process remembers the calls of a node.
		const parameters = { include: ['transcript', 'recording'] };
		const node = await harness.node(type, { id: randomUUID(), parameters });
		const workflow = makeWorkflow([node]);
		const running = await activate(harness.credentials, workflow);
		active = running;
		const trigger = nodeTypes.getByNameAndVersion(node.type, 1);
		for (const callId of callIds) {
			const body = dialect.webhook.body(callId, { call_id: callId, status: 'forged' });
			const { context, response } = webhookContext(harness.credentials, workflow, node, { body });
			const responded = response.sent();
			await trigger.webhook?.call(context);
			await responded;
		}
		// The workflow starts after the response.
		await until('every execution', async () => running.emitted.length === callIds.length);
		return running.emitted.flatMap(({ items }) => items.flat()).map(({ json }) => json);
	}

	test('returns the call record of the service for each completed call, whatever the payload', async () => {
		const records = await deliver(calls.finished, calls.notPicked, calls.unusual);
		expect(records).toMatchObject([
			{
				call_id: calls.finished,
				phone_key: '919876500001',
				status: 'picked',
				recording: { expires_in_seconds: 900 },
			},
			{ call_id: calls.notPicked, status: 'not_picked', transcript: [], recording: null },
			{ call_id: calls.unusual, status: dialect.calls.unusual.status },
		]);
		expect(records.flatMap((record) => schemaFaults({ node: type }, record))).toEqual([]);
		const seen = new FieldsSeen();
		for (const record of records) seen.add(type, record);
		expect(seen.missing({ node: type }, type)).toEqual([]);
	});
});
