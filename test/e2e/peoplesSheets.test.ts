import { randomUUID } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';
import type { JsonObject } from '../../nodes/shared/json';
import { byId, chain, node, webhook } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';

/** Rows as people's sheets and exports have them. */
const { n8n, simulator, ours, publish, executionOf } = useAccount();

const campaign = fixtures.campaigns.active;

afterEach(() => simulator.reset());

/** Pushes these rows. Returns the ended execution, with what the node shows. */
async function push(rows: JsonObject[], parameters: INodeParameters = {}) {
	const path = randomUUID();
	const split = node('Rows', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.rows' });
	const target = { campaignId: byId(campaign), agentUuid: byId(fixtures.agents.full) };
	const last = ours('Push', 'pushCampaignContacts', { ...target, ...parameters });
	const trigger = webhook(path, { responseMode: 'onReceived' });
	const workflow = await publish(chain('sheet', trigger, split, last));
	await n8n.webhook(path, { rows });
	const { id, status } = await n8n.finished(await executionOf(workflow));
	const { runData, error } = await n8n.runData(id);
	const hints = (runData.Push?.at(-1)?.hints ?? []).map(({ message }) => message);
	const rejected = status === 'success' ? await n8n.output(id, 'Push', 1) : [];
	return { status, error, hints, rejected: rejected.map(({ json }) => json) };
}

const contacts = () =>
	simulator.contactsOf(campaign).map(({ phone, personName, extra }) => [phone, personName, extra]);

describe('columns', () => {
	const phone = '9876543210';

	it.each<[JsonObject, INodeParameters, string]>([
		[{ phone, पता: '12 MG Road' }, { personNameColumn: 'पिता' }, 'पिता'],
		[{ 'पति का फोन': phone }, { phoneColumn: 'पिता का फोन' }, 'पिता का फोन'],
		[{ phone, Q11: 'no' }, { otherColumns: 'listed', columnsToSend: 'Q1.1' }, 'Q1.1'],
		[
			{ phone, 'Price ($)': 5 },
			{ otherColumns: 'listed', columnsToSend: 'Price (₹)' },
			'Price (₹)',
		],
	])('%j is not read with %j', async (row, parameters, name) => {
		const { status, error } = await push([row], parameters);
		expect(status).toBe('error');
		expect(error?.message).toContain(`The input has no column "${name}", so nothing was sent`);
		expect(contacts()).toEqual([]);
	});

	it('are found in another spelling, and a hint names them', async () => {
		const { hints } = await push([{ 'MOBILE_NO.': phone, 'Full Name': 'Asha', पिता: 'Ravi' }]);
		expect(contacts()).toEqual([['+919876543210', 'Asha', { पिता: 'Ravi' }]]);
		expect(hints).toContain('Columns used: "MOBILE_NO." as phone, "Full Name" as person_name.');
	});
});
