import type { INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../contract/credentialFor';
import { isN8n1, N8nDriver, type Reference } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, manualTrigger, node } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { executionsOf, PACKAGE } from './calls';
import { sharedN8n } from './shared';

const { agents, calls, campaigns, uploads } = fixtures;
const AGENT = { agentUuid: { __rl: true, mode: 'id', value: agents.full } };
const NEW = '+919800000077';

describe.each(Object.values(dialects))('in real n8n, dialect $name', (dialect) => {
	let n8n: N8nDriver;
	let simulator: Simulator;
	let credential: Reference;

	beforeAll(async () => {
		n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
		simulator = await startSimulator({ dialect });
		credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
	});
	afterEach(() => {
		simulator.reset();
	});
	afterAll(async () => {
		await n8n.request('DELETE', `/credentials/${credential.id}`);
		await simulator.stop();
	});

	const ours = (name: string, type: string, parameters: INodeParameters): INode =>
		node(name, `${PACKAGE}.${type}`, 1, parameters, {
			credentials: { [CREDENTIAL]: { id: credential.id, name: credential.name } },
		});

	/** Runs the nodes in a row. Returns the output of the last one, or throws its error message. */
	async function run(...nodes: INode[]): Promise<INodeExecutionData[]> {
		const workflow = await n8n.createWorkflow(chain('Reads', manualTrigger(), ...nodes));
		try {
			const { id } = await n8n.runManually(workflow, 'Start');
			const { error } = await n8n.runData(id);
			if (error !== undefined) throw new Error(error.message);
			return await n8n.output(id, nodes.at(-1)?.name ?? '');
		} finally {
			await n8n.deleteWorkflow(workflow);
		}
	}
	const one = async (type: string, parameters: INodeParameters) =>
		await run(ours('Node', type, parameters));

	test('Place Call places a call', async () => {
		const [item] = await one('placeCall', {
			...AGENT,
			countryCode: 'IN',
			phoneNumber: '98765 43210',
			personName: 'Asha Rao',
		});
		expect(item?.json.call_id).toEqual(expect.any(String));
		expect(simulator.callsTo('+919876543210')).toBe(1);
	});

	test('Push Campaign Contacts pushes good rows', async () => {
		const rows = [
			{ phone: '098765 43211', person_name: 'Ravi', city: 'Pune' },
			{ phone: 'later', person_name: 'Nisha', city: 'Jaipur' },
		];
		const jsonOutput = JSON.stringify({ rows });
		const [item] = await run(
			node('Sheet', 'n8n-nodes-base.set', 3.4, { mode: 'raw', jsonOutput }),
			node('Rows', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'rows' }),
			ours('Node', 'pushCampaignContacts', { campaignId: byId(campaigns.active), ...AGENT }),
		);
		expect(item?.json).toMatchObject({
			person_name: 'Ravi',
			push_status: 'pushed',
			phone_key: '919876543211',
			campaign_upload_id: expect.any(Number),
		});
		expect(simulator.contactsOf(campaigns.active)).toContainEqual(
			expect.objectContaining({ personName: 'Ravi', extra: { city: 'Pune' } }),
		);
	});

	test('Get Call returns record, transcript, and recording', async () => {
		const include = ['transcript', 'recording'];
		const [item] = await one('getCall', { callId: calls.finished, include });
		expect(item?.json).toMatchObject({
			call_id: calls.finished,
			transcript: [{ role: expect.any(String) }, {}, {}],
			recording: { expires_in_seconds: 900 },
		});
	});

	test('Get Call returns the transcript as text', async () => {
		const [item] = await one('getCall', {
			operation: 'getTranscript',
			callId: calls.finished,
		});
		expect(item?.json.transcript_text).toContain('assistant: ');
	});

	test('Get Call stores the recording as binary data', async () => {
		const [item] = await one('getCall', {
			operation: 'getRecording',
			callId: calls.finished,
			recordingAs: 'file',
			outputField: 'sound',
		});
		const recorded = simulator.state.calls.get(calls.finished)?.recording;
		expect(item?.json.mime_type).toMatch(/^audio\//);
		const sound = item?.binary?.sound;
		expect(sound).toMatchObject({ fileType: 'audio' });
		const data = sound?.data ?? '';
		if (isN8n1) {
			// n8n 1 stores the bytes in the execution.
			expect(Buffer.from(data, 'base64')).toEqual(recorded);
			return;
		}
		// n8n 2 stores a file, and only its ID in the execution.
		expect(data.length).toBeLessThan(100);
		expect(sound).toMatchObject({ bytes: recorded?.length });
	});

	test('Get Call returns every call', async () => {
		const found = await one('getCall', { operation: 'getMany', returnAll: true });
		expect(new Set(found.map(({ json }) => json.call_id)).size).toBe(40);
	});

	test('Campaign Status returns one flat record', async () => {
		const found = await one('campaignStatus', { campaignId: byId(campaigns.active) });
		expect(found).toMatchObject([{ json: { campaign_id: campaigns.active, lists_total: 2 } }]);
	});

	test('DND List adds, checks, removes, and lists numbers', async () => {
		const dnd = (name: string, parameters: INodeParameters) =>
			ours(name, 'dnd', { ...AGENT, ...parameters });
		const found = await run(
			dnd('Add', { operation: 'add', phone: NEW }),
			dnd('Check', { operation: 'check', phone: NEW }),
			dnd('Remove', { operation: 'remove', phone: '={{ $json.phone }}' }),
			dnd('List', { operation: 'getMany', returnAll: true }),
		);
		expect(found).toHaveLength(121);
		const paths = simulator.requests.map(({ method, path }) => `${method} ${path}`);
		expect(paths).toEqual(
			expect.arrayContaining(['POST /v1/dnd_numbers', 'DELETE /v1/dnd_numbers']),
		);
	});

	test('Agents lists and checks agents', async () => {
		expect(await one('agents', { operation: 'getMany' })).toHaveLength(4);
		expect(await one('agents', { operation: 'check', ...AGENT })).toMatchObject([
			{ json: { agent_uuid: agents.full, active: true } },
		]);
	});

	test('an unknown call stops the run with a clear message', async () => {
		const unknown = '00000000-0000-4000-8000-000000000000';
		await expect(one('getCall', { callId: unknown })).rejects.toThrow(
			"The service doesn't know this call",
		);
	});
});

describe('the Campaign Progress Trigger in real n8n', () => {
	test('returns the current state, then each change once', async () => {
		const n8n = await N8nDriver.signIn(sharedN8n().baseUrl);
		const simulator = await startSimulator({ dialect: dialects.plain });
		const credential = await n8n.createCredential(CREDENTIAL, credentialFor(simulator));
		const trigger = node(
			'Progress',
			`${PACKAGE}.campaignProgressTrigger`,
			1,
			{
				campaignId: byId(campaigns.active),
				emitBaseline: true,
				pollTimes: { item: [{ mode: 'everyMinute' }] },
			},
			{ credentials: { [CREDENTIAL]: { id: credential.id, name: credential.name } } },
		);
		const workflow = await n8n.createWorkflow(chain('Progress', trigger));
		await n8n.activate(workflow);
		expect(await executionsOf(n8n, workflow, 'Progress', 1)).toMatchObject([
			{ json: { event: 'current_state' } },
		]);

		simulator.completeUpload(uploads.running);
		// The baseline is kept when the workflow is unpublished and published, which polls each time.
		for (let round = 0; round < 2; round++) {
			const requestsBefore = simulator.requests.length;
			await n8n.deactivate(workflow);
			await n8n.activate(workflow);
			await until('another poll', async () => simulator.requests.length > requestsBefore);
		}
		const items = await executionsOf(n8n, workflow, 'Progress', 2);
		expect(items.map(({ json }) => json.event).sort()).toEqual([
			'current_state',
			'queue_completed',
		]);
		await n8n.deactivate(workflow);
		await n8n.deleteWorkflow(workflow);
		await n8n.request('DELETE', `/credentials/${credential.id}`);
		await simulator.stop();
	});
});
