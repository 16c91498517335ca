import { webhookTrigger } from '../engine';
import { FieldsSeen, schemaFaults } from '../schema/schemas';
import { fixtures } from '../simulator';
import { describeContract } from './contractHarness';

const { calls } = fixtures;
const type = 'callCompletedTrigger';

describeContract((harness, dialect) => {
	/** Delivers a completion webhook for each call. Returns what the trigger passes on. */
	async function deliver(...callIds: string[]) {
		const parameters = { include: ['transcript', 'recording'] };
		const node = await harness.node(type, { parameters });
		const trigger = webhookTrigger(harness.credentials, node);
		const records = [];
		for (const callId of callIds) {
			const body = dialect.webhook.body(callId, { call_id: callId, status: 'forged' });
			records.push(...(await trigger.deliver({ body })).items);
		}
		return records;
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
		expect(records.flatMap((record) => schemaFaults({ node: type, version: 2 }, record))).toEqual(
			[],
		);
		const seen = new FieldsSeen();
		for (const record of records) seen.add(type, record);
		expect(seen.missing({ node: type, version: 2 }, type)).toEqual([]);
	});
});
