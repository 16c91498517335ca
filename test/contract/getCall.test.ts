import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { fixtures } from '../simulator';
import { describeContract } from './contractRing';
import { neverSeen, schemaMismatches } from './schema';

const { calls, agents, campaigns, uploads } = fixtures;

const text = (value: unknown) => (typeof value === 'string' ? value : '');

describeContract((ring, dialect) => {
	const records = async (parameters: INodeParameters, items?: IDataObject[]) =>
		await ring.records('getCall', parameters, items);
	const ids = (found: IDataObject[]) => found.map(({ call_id }) => call_id);
	const list = async (filters: INodeParameters, more: INodeParameters = { returnAll: true }) =>
		await records({ operation: 'getMany', filters, simplify: false, ...more });

	test('Get: the record, with transcript and recording', async () => {
		const [record] = await records({
			operation: 'get',
			callId: calls.finished,
			include: ['transcript', 'recording'],
		});
		expect(record).toMatchObject({ call_id: calls.finished, status: 'picked' });
		expect(record?.transcript).not.toEqual([]);
		expect(record?.recording).toMatchObject({ expires_in_seconds: 900 });
		expect(schemaMismatches('GetCall', 'get', record)).toEqual([]);
		expect(neverSeen('GetCall', 'get', [record ?? {}])).toEqual([]);
	});

	test('Get: a call without either, values that the document does not name', async () => {
		const [none, unusual] = await records(
			{ operation: 'get', callId: '={{ $json.id }}', include: ['transcript', 'recording'] },
			[{ id: calls.notPicked }, { id: calls.unusual }],
		);
		expect(none).toMatchObject({ status: 'not_picked', transcript: [], recording: null });
		expect(unusual).toMatchObject({ status: dialect.calls.unusual.status });
	});

	test('Get: the raw record', async () => {
		const [record] = await records({ operation: 'get', callId: calls.finished, simplify: false });
		expect(record).toMatchObject({ campaign_id: campaigns.active, channel: 'sip' });
	});

	test.each(['get', 'getTranscript', 'getRecording'])('%s: an unknown call', async (operation) => {
		const unknown = '00000000-0000-4000-8000-000000000000';
		const run = await ring.run('getCall', { operation, callId: unknown });
		expect(run.data.resultData.error?.message).toBe('The service does not know this call');
	});

	test('Get Transcript: turns and text, and none', async () => {
		const [talk, none] = await records({ operation: 'getTranscript', callId: '={{ $json.id }}' }, [
			{ id: calls.finished },
			{ id: calls.notPicked },
		]);
		expect(talk?.transcript_text).toContain(`${dialect.calls.customerRole}: `);
		expect(none).toEqual({ call_id: calls.notPicked, transcript: [], transcript_text: '' });
		expect(schemaMismatches('GetCall', 'getTranscript', talk)).toEqual([]);
		expect(neverSeen('GetCall', 'getTranscript', [talk ?? {}])).toEqual([]);
	});

	test('Get Recording: a link until a moment, or word that there is none', async () => {
		const [recording] = await records({ operation: 'getRecording', callId: calls.finished });
		expect(schemaMismatches('GetCall', 'getRecording', recording)).toEqual([]);
		expect(neverSeen('GetCall', 'getRecording', [recording ?? {}])).toEqual([]);
		const left = Date.parse(text(recording?.expires_at)) - Date.now();
		expect(left).toBeGreaterThan(890_000);
		expect(left).toBeLessThanOrEqual(900_000);

		const run = await ring.run('getCall', { operation: 'getRecording', callId: calls.noRecording });
		expect(run.data.resultData.error?.message).toBe('This call has no recording');
	});

	test('Get Recording: the file, fetched without the token', async () => {
		const before = ring.simulator().requests.length;
		const [file] = await records({
			operation: 'getRecording',
			callId: calls.finished,
			recordingAs: 'file',
			outputField: 'recording',
		});
		expect(file).toMatchObject({ call_id: calls.finished });
		expect(file?.mime_type).toMatch(/^audio\//);
		// Storage of the simulator refuses a request that carries the token.
		expect(ring.simulator().requests.length - before).toBe(2);
	});

	test('Get Many: every call, over all pages, each once', async () => {
		const found = await list({});
		expect(new Set(ids(found)).size).toBe(40);
		expect(found).toHaveLength(40);
		for (const call of found) expect(schemaMismatches('GetCall', 'getMany', call)).toEqual([]);
	});

	test('Get Many: up to a limit, with a page size', async () => {
		expect(await list({}, { limit: 13 })).toHaveLength(13);
		const found = await list({}, { returnAll: true, options: { pageSize: 4 } });
		expect(new Set(ids(found)).size).toBe(40);
	});

	test('Get Many: each filter', async () => {
		const unusual = dialect.calls.unusual.status;
		expect(ids(await list({ status: unusual }))).toEqual([calls.unusual]);
		expect(ids(await list({ agentUuid: agents.us }))).toEqual([calls.unusual]);
		expect(await list({ campaignId: campaigns.active })).toHaveLength(38);
		expect(await list({ campaignUploadId: uploads.running })).toHaveLength(17);
		expect(ids(await list({ phone: '12025550143' }))).toEqual([calls.unusual]);
		const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
		expect(await list({ from: tomorrow })).toEqual([]);
		expect(await list({ to: tomorrow })).toHaveLength(40);
	});
});
