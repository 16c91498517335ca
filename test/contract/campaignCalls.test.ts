import { makeWorkflow, nodeTypes, pollContext } from '../engine';
import { FieldsSeen, schemaFaults } from '../schema/schemas';
import { fixtures } from '../simulator';
import { describeContract } from './contractHarness';

const { calls, campaigns } = fixtures;
const type = 'campaignCallsTrigger';

describeContract((harness) => {
	test('returns the call record of the service for each completed call', async () => {
		const parameters = {
			campaignId: String(campaigns.active),
			startFrom: '2020-01-01T00:00:00Z',
			include: ['transcript', 'recording'],
			pollTimes: { item: [{ mode: 'everyMinute' }] },
		};
		const node = await harness.node(type, { parameters });
		const context = pollContext(harness.credentials, makeWorkflow([node]), node);
		const output = await nodeTypes.getByNameAndVersion(node.type).poll?.call(context);
		const records = (output?.[0] ?? []).map(({ json }) => json);
		expect(records.length).toBeGreaterThan(10);
		expect(records.find(({ call_id: id }) => id === calls.finished)).toMatchObject({
			phone_key: '919876500001',
			status: 'picked',
			recording: { expires_in_seconds: 900 },
		});
		expect(records.flatMap((record) => schemaFaults({ node: type }, record))).toEqual([]);
		const seen = new FieldsSeen();
		for (const record of records) seen.add(type, record);
		expect(seen.missing({ node: type }, type)).toEqual([]);
	});
});
