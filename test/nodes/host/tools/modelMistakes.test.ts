/** Mistakes of a model: the tool says what to send instead, with an example, and mentions no other person. */
import type { INodeParameters } from 'n8n-workflow';
import { enter, type FormLabel } from '../../../../nodes/core/service/modelFormats';
import { agent } from '../../../contract/contractCase';
import { simulatedNodes } from '../../../contract/simulatedNodes';
import { engineTool } from '../../../engine';
import { useOf } from '../../../operations/operations';
import { fixtures } from '../../../simulator';

const { simulator, nodeOf } = simulatedNodes();

const GIVEN = "={{ $fromAI('given', ``, 'string') }}";
const agentByModel = { agentUuid: { __rl: true, mode: 'id', value: GIVEN } };
const developer = (field: string) => ({ options: { [field]: GIVEN } });
const pushJson = { contactsFrom: 'json', contacts: '[{ "phone": "9876543210" }]' };

type Mistake = [
	field: FormLabel,
	operation: string,
	/** Replace parameters of the table. */
	own: INodeParameters,
	given: Array<string | boolean | object>,
	/** By default, the format of the field. */
	advice?: string,
];

const ANSWERS = 'such as "yes, true" and "no, false".';

const MISTAKES: Mistake[] = [
	['Agent', 'placeCall › place', agentByModel, ['', 'Asha', '42', true, ['a'], { id: 1 }]],
	['Agent', 'agents › check', agentByModel, ['', 'Asha']],
	['Agent', 'pushCampaignContacts', { ...pushJson, ...agentByModel }, ['', 'Asha']],
	['Agent', 'dnd › check', agentByModel, ['', 'Asha']],
	[
		'Country',
		'placeCall › place',
		{ countryCode: GIVEN },
		['', 'Korea', '+91', 'INDI'],
		'"IN" for India.',
	],
	['Phone Number', 'placeCall › place', { phoneNumber: GIVEN }, ['', 'Asha', 'home']],
	[
		'When to Call',
		'placeCall › place',
		{ when: GIVEN },
		['', 'tomorrow at 6', '2027-01-31T18:30:00', '2027-01-31'],
	],
	[
		'When to Call',
		'placeCall › place',
		{ when: GIVEN },
		['2020-01-31T18:30:00+05:30'],
		"Choose a later time, or set 'When to Call' to 'Now'. It is now ",
	],
	['Counts as Yes', 'placeCall › askAndWait', { yesValues: GIVEN }, ['', 'no'], ANSWERS],
	['Counts as No', 'placeCall › askAndWait', { noValues: GIVEN }, ['', 'yes'], ANSWERS],
	[
		'Session ID',
		'chatSend › sendMessage',
		{ sendingMethod: 'inbound', sessionId: GIVEN, agentUuid: '' },
		[''],
		"Fill in 'Session ID', or 'Agent'",
	],
	['Call ID', 'getCall › get', { callId: GIVEN }, ['', '42/7', 'Asha’s call']],
	[
		'From',
		'getCall › getMany',
		{ period: 'between', from: GIVEN },
		['soon'],
		`${enter('From')} It is now `,
	],
	['Campaign ID', 'getCall › getMany', { filters: { campaignId: GIVEN } }, ['Diwali']],
	['Contact List ID', 'getCall › getMany', { filters: { campaignUploadId: GIVEN } }, ['Diwali']],
	['Campaign', 'campaignStatus', { campaignId: GIVEN }, ['', 'Diwali', '-1']],
	['Campaign', 'pushCampaignContacts', { ...pushJson, campaignId: GIVEN }, ['', 'Diwali']],
	[
		'Contacts',
		'pushCampaignContacts',
		{ ...pushJson, contacts: GIVEN },
		['', 'Asha 9876543210', '{'],
		'such as [{ "phone": "9876543210"',
	],
	['Session ID', 'chatSend › sendMessage', { sessionId: GIVEN }, ['', 'Asha', '42']],
	['Session ID', 'injectContext', { sessionId: GIVEN }, ['', 'Asha']],
	['Message', 'chatSend › sendMessage', { message: GIVEN }, ['', ' ']],
	['Context', 'injectContext', { context: GIVEN }, [' ']],
	['Interaction ID', 'chatSend › answerInteraction', { interactionId: GIVEN }, [' ']],
	['Command', 'chatSession › supportCommand', { command: GIVEN }, ['', ' ']],
	['Metadata', 'chatSession › legacyCreate', { metadata: GIVEN }, ['website', '["website"]']],
	[
		'Additional Body Fields',
		'placeCall › place',
		developer('additionalBodyFields'),
		['high', '["high"]', '{priority: high', '42', 'true'],
	],
	[
		'Additional Query Fields',
		'campaignStatus',
		developer('additionalQueryParameters'),
		['en', '["en"]', '{"locale": {"language": "en"}}'],
	],
	['Fields', 'getCall › get', { output: 'selected', selectedFields: GIVEN }, [',']],
];

// Jest passes a callback for a missing value of a row, so each row gets all values.
test.each(
	MISTAKES.map(([field, operation, own, given, advice = enter(field)]) => ({
		...{ field, operation, own, given, advice },
	})),
)('$field of $operation', async ({ operation, own, given, advice }) => {
	await expectAdvice(advice, operation, own, given);
});

test('a switch', async () => {
	const own = { options: { disconnectOther: "={{ $fromAI('given', ``, 'boolean') }}" } };
	const advice = 'Enter true or false.';
	await expectAdvice(advice, 'chatSend › sendMessage', own, ['', 'maybe']);
});

const OWNER = 'the person who set up this tool';

test.each<[string, INodeParameters, FormLabel]>([
	['placeCall › place', { agentUuid: { __rl: true, mode: 'id', value: 'Asha' } }, 'Agent'],
	['campaignStatus', { campaignId: 'Diwali' }, 'Campaign'],
	['getCall › get', { callId: '42/7' }, 'Call ID'],
])(
	'%s, with a value of the workflow: the model gets the same advice and tells its user, %#',
	async (operation, own, label) => {
		const { node: type, parameters } = useOf(operation);
		const { outcome, next_step: next } = await engineTool(
			await nodeOf(type, { ...parameters, ...own }),
		)();
		expect([outcome, next]).toEqual([
			'not_sent',
			`${enter(label)} Nothing was done. Request again only what you can correct. Tell the user you are chatting with about the rest.`,
		]);
	},
);

const ofSession = (sessionId: string) => ({ sessionId });
const inRequest = (sessionId: string) => ({ sendingMethod: 'inbound', sessionId, agentUuid: '' });
const ofCampaign = (campaignId: string) => ({ campaignId });
const { sessions, agents, campaigns } = fixtures;

test.each<[string, (value: string) => INodeParameters, string, string]>([
	['chatSend › sendMessage', ofSession, sessions.unknown, 'Check the IDs'],
	['injectContext', ofSession, sessions.unknown, 'Check the IDs'],
	['chatSend › sendMessage', inRequest, sessions.foreign, 'check it, too.'],
	['chatSession › create', agent, 'agent_unknown', 'Use the ID of an agent'],
	['placeCall › place', agent, 'agent_unknown', 'Use the ID of an agent'],
	['placeCall › place', agent, agents.noNumber, 'use another agent.'],
	['campaignStatus', ofCampaign, '999', 'Check the campaign ID.'],
	[
		'pushCampaignContacts',
		(value) => ({ ...pushJson, ...ofCampaign(value) }),
		String(campaigns.archived),
		'Use another campaign',
	],
	['getCall › get', (callId) => ({ callId }), sessions.unknown, 'Check the call_id'],
])('%s, with a value that the service rejects: %#', async (operation, own, value, advice) => {
	const { node: type, parameters } = useOf(operation);
	const tool = engineTool(await nodeOf(type, { ...parameters, ...own(GIVEN) }));
	expect((await tool({ given: value })).next_step).toContain(advice);
});

test.each([
	['chatSend › sendMessage', GIVEN],
	['chatSend › sendMessage', sessions.closed],
	['chatSession › close', GIVEN],
	['chatSession › close', sessions.closed],
])('%s, with a closed session: nobody has to fix the tool, %#', async (operation, sessionId) => {
	const { node: type, parameters } = useOf(operation);
	const tool = engineTool(await nodeOf(type, { ...parameters, sessionId }));
	const { next_step: next } = await tool({ given: sessions.closed });
	expect(next).toContain('another session is needed');
	expect(next).not.toContain(OWNER);
});

test.each(['socket', 'async'])(
	'chatSend › sendMessage, %s: another message with a key that was used before',
	async (sendingMethod) => {
		const { parameters } = useOf('chatSend › sendMessage');
		const message = "={{ $fromAI('message', ``, 'string') }}";
		const keyed = { ...parameters, sendingMethod, message, options: { idempotencyKey: GIVEN } };
		const tool = engineTool(await nodeOf('chatSend', keyed));
		expect(await tool({ message: 'Hello', given: '42' })).toMatchObject({ outcome: 'done' });
		const second = await tool({ message: 'Hello again', given: '42' });
		expect(second).toMatchObject({ outcome: 'rejected' });
	},
);

test('an archived campaign: another one is needed', async () => {
	const { parameters } = useOf('pushCampaignContacts');
	const chosen = { ...parameters, ...pushJson, campaignId: GIVEN };
	const tool = engineTool(await nodeOf('pushCampaignContacts', chosen));
	expect((await tool({ given: campaigns.archived })).next_step).toMatch(
		/^Archived campaigns are read-only\. Use another campaign/,
	);
});

/** Nothing is sent for any of these values, and the next step has the advice, but none for a person. */
async function expectAdvice(
	advice: string,
	operation: string,
	own: INodeParameters,
	given: Mistake[3],
): Promise<void> {
	const { node: type, parameters } = useOf(operation);
	const results = [];
	for (const value of given) {
		simulator().reset();
		const node = await nodeOf(type, { ...parameters, ...own });
		const result = await engineTool(node)({ given: value });
		expect(simulator().placedCalls()).toEqual([]);
		results.push({ given: value, outcome: result.outcome, next: result.next_step });
	}
	expect(results).toEqual(
		given.map((value) => ({
			given: value,
			outcome: 'not_sent',
			next: expect.stringContaining(advice),
		})),
	);
	for (const { next } of results) expect(next).not.toContain(OWNER);
}
