/** A form with a CSV file, a manager who approves it by phone, and the push of the file. */
import { randomUUID } from 'node:crypto';
import { until } from '../n8n/until';
import { byId, chain, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import { answerQuestions, APPROVER } from './questions';
import { sharedN8n } from './shared';

const LIST = 'Phone,Name\n9876543210,Asha\n9876543211,Ravi\n';

const account = useAccount();
const { n8n, simulator, ours, publish, executionOf } = account;
const agentUuid = byId(fixtures.agents.full);
const campaignId = byId(fixtures.campaigns.active);

afterEach(() => simulator.reset());

it('the file of a form is pushed after Ask and Wait', async () => {
	const webhookId = randomUUID();
	const formFields = { values: [{ fieldLabel: 'List', fieldType: 'file' }] };
	const form = node(
		'Form',
		'n8n-nodes-base.formTrigger',
		2.3,
		{ formTitle: 'Lists', formFields },
		{ webhookId },
	);
	const ask = ours('Ask', 'placeCall', {
		operation: 'askAndWait',
		agentUuid,
		countryCode: 'IN',
		phoneNumber: APPROVER,
		question: 'May we push the list?',
		yesValues: 'yes',
		noValues: 'no',
	});
	const push = ours('Push', 'pushCampaignContacts', {
		campaignId,
		agentUuid,
		whatToDo: 'wait',
		contactsFrom: 'csv',
	});
	const workflow = await publish(chain('approved file', form, ask, push));
	const url = `${sharedN8n().baseUrl}/form/${webhookId}`;
	await until('the form', async () => (await fetch(url)).ok);
	const body = new FormData();
	body.append('field-0', new File([LIST], 'leads.csv', { type: 'text/csv' }));
	expect((await fetch(url, { method: 'POST', body })).ok).toBe(true);
	const id = await executionOf(workflow);
	expect(await answerQuestions(account, id)).toBe('success');
	const pushed = simulator.contactsOf(fixtures.campaigns.active);
	expect(pushed.map(({ phone, personName }) => [phone, personName])).toEqual([
		['+919876543210', 'Asha'],
		['+919876543211', 'Ravi'],
	]);
	const [asked] = await n8n.output(id, 'Ask');
	expect(asked).toMatchObject({
		json: { answer: 'yes' },
		binary: { List: { fileName: 'leads.csv' } },
	});
});

it('a wait ends with Execution Logic v2 of the workflow', async () => {
	simulator.setAutoComplete({ afterMs: 0 });
	const place = account.placeCall({ options: { waitMinutes: 60 } });
	const { id } = await account.start(['9000000002'], [place], { binaryMode: 'combined' });
	expect(await n8n.finished(id)).toMatchObject({ status: 'success' });
	const [item] = await n8n.output(id, 'Place Call');
	expect(item).toMatchObject({ json: { phone: '9000000002', timed_out: false } });
});
