import type { INode, INodeParameters } from 'n8n-workflow';
import { isN8n1 } from '../n8n/driver';
import { byId, chain, manualTrigger, node } from '../n8n/workflow';
import { dialects, fixtures } from '../simulator';
import { useAccount } from './account';

const { agents, calls, campaigns } = fixtures;
const AGENT = { agentUuid: byId(agents.full) };
const CAMPAIGN = { campaignId: byId(campaigns.active) };
const NEW = '+919800000077';
const SESSION = "={{ $('Create').first().json.session_id }}";
const ROWS = [
	{ phone: '098765 43211', person_name: 'Ravi', city: 'Pune' },
	{ phone: 'later', person_name: 'Nisha', city: 'Jaipur' },
];

/** `test/contract` has every action in both dialects, without a server. */
describe('in real n8n', () => {
	const account = useAccount({ isMapped: true, dialect: dialects.scrambled });
	const { n8n, simulator } = account;

	/** A node that runs once, whatever the nodes before it return. */
	const ours = (name: string, type: string, parameters: INodeParameters, rest = {}): INode =>
		account.ours(name, type, parameters, { executeOnce: true, ...rest });

	test('every action node works in one workflow, and a recording becomes a file of n8n', async () => {
		const jsonOutput = JSON.stringify({ rows: ROWS });
		const push = ours('Push', 'pushCampaignContacts', { ...CAMPAIGN, ...AGENT, whatToDo: 'wait' });
		const workflow = await account.create(
			chain(
				'actions',
				manualTrigger(),
				ours('Agents', 'agents', { operation: 'getMany' }),
				ours('Call', 'placeCall', {
					...AGENT,
					whatToDo: 'place',
					countryCode: 'IN',
					phoneNumber: '98765 43210',
					personName: 'Asha Rao',
				}),
				ours('Record', 'getCall', { callId: calls.finished, include: ['transcript'] }),
				ours('Recording', 'getCall', {
					operation: 'getRecording',
					callId: calls.finished,
					recordingAs: 'file',
					outputField: 'sound',
				}),
				ours('Status', 'campaignStatus', CAMPAIGN),
				ours('Add', 'dnd', { operation: 'add', ...AGENT, phone: NEW }),
				ours('Remove', 'dnd', { operation: 'remove', ...AGENT, phone: NEW }),
				ours('List', 'dnd', { operation: 'getMany', ...AGENT, returnAll: true }),
				ours('Create', 'chatSession', { operation: 'create', ...AGENT, personName: 'Asha' }),
				ours('Tell', 'injectContext', { sessionId: SESSION, context: 'Called yesterday' }),
				ours('Say', 'chatSend', { sessionId: SESSION, message: 'Hello' }),
				node('Sheet', 'n8n-nodes-base.set', 3.4, { mode: 'raw', jsonOutput }),
				node('Rows', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'rows' }),
				{ ...push, executeOnce: false },
			),
		);
		const { id, status } = await n8n.runManually(workflow, 'Start');
		expect({ status, error: (await n8n.runData(id)).error }).toEqual({ status: 'success' });
		const of = async (name: string) => (await n8n.output(id, name)).map(({ json }) => json);
		expect(await of('Agents')).toHaveLength(4);
		expect(await of('Call')).toMatchObject([{ call_id: expect.any(String) }]);
		expect(simulator.callsTo('+919876543210')).toBe(1);
		expect(await of('Record')).toMatchObject([
			{ call_id: calls.finished, transcript: [{ role: expect.any(String) }, {}, {}] },
		]);
		expect(await of('Status')).toMatchObject([{ campaign_id: campaigns.active, lists_total: 2 }]);
		expect(await of('List')).toHaveLength(121);
		expect(await of('Tell')).toMatchObject([{ context: [expect.any(String), 'Called yesterday'] }]);
		expect(await of('Say')).toMatchObject([{ reply: 'You said: Hello' }]);
		expect(await of('Push')).toMatchObject([
			{ person_name: 'Ravi', push_status: 'pushed', phone_key: '919876543211' },
		]);
		expect(simulator.contactsOf(campaigns.active)).toMatchObject([
			{ personName: 'Ravi', extra: { city: 'Pune' } },
		]);

		const [item] = await n8n.output(id, 'Recording');
		const recorded = simulator.state.calls.get(calls.finished)?.recording;
		expect(item?.json.mime_type).toMatch(/^audio\//);
		const sound = item?.binary?.sound;
		expect(sound).toMatchObject({ fileType: 'audio' });
		if (isN8n1) {
			// n8n 1 stores the bytes in the execution.
			expect(Buffer.from(sound?.data ?? '', 'base64')).toEqual(recorded);
		} else {
			// n8n 2 stores a file, and only its ID in the execution.
			expect(sound?.data.length).toBeLessThan(100);
			expect(sound).toMatchObject({ bytes: recorded?.length });
		}
	});
});
