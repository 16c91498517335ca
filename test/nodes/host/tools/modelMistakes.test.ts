/** Mistakes of a model: the tool says what to send instead, with an example, and mentions no other person. */
import type { INodeParameters } from 'n8n-workflow';
import { type FormLabel, formatOf } from '../../../../nodes/core/service/modelFormats';
import { agent } from '../../../contract/contractCase';
import { simulatedNodes } from '../../../contract/simulatedNodes';
import { engineTool } from '../../../engine';
import { useOf } from '../../../operations/operations';
import { fixtures } from '../../../simulator';

const { simulator, nodeOf } = simulatedNodes();

const GIVEN = "={{ $fromAI('given', ``, 'string') }}";
const agentByModel = { agentUuid: { __rl: true, mode: 'id', value: GIVEN } };
const developer = (field: string) => ({ developerSettings: { [field]: GIVEN } });
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
		['', 'tomorrow at 6', '2027-01-31T18:30:00', '2027-01-31', '2020-01-31T18:30:00+05:30'],
	],
	['Counts as Yes', 'placeCall › askAndWait', { yesValues: GIVEN }, ['', 'no']],
	['Counts as No', 'placeCall › askAndWait', { noValues: GIVEN }, ['', 'yes']],
	[
		'Session ID',
		'chatSend › sendMessage',
		{ sendBy: 'inbound', sessionId: GIVEN, agentUuid: '' },
		[''],
		'Give the ID of the chat session or the ID of the agent.',
	],
	['Call ID', 'getCall › get', { callId: GIVEN }, ['', '42/7', 'Asha’s call']],
	[
		'From',
		'getCall › getMany',
		{ filters: { from: GIVEN } },
		['soon'],
		`${formatOf('From')} It is now `,
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
	MISTAKES.map(([field, operation, own, given, advice = formatOf(field)]) => ({
		...{ field, operation, own, given, advice },
	})),
)('$field of $operation', async ({ operation, own, given, advice }) => {
	await expectAdvice(advice, operation, own, given);
});

test('a switch', async () => {
	const own = { disconnectOther: "={{ $fromAI('given', ``, 'boolean') }}" };
	const advice = 'Give Disconnect Other Connection as true or false.';
	await expectAdvice(advice, 'chatSend › sendMessage', own, ['', 'maybe']);
});

const OWNER = 'the person who set up this tool';

test.each<[string, INodeParameters]>([
	['placeCall › place', { phoneNumber: 'Asha' }],
	['placeCall › place', { phoneNumber: '={{ $json.phone }}' }],
	['placeCall › place', { when: '2020-01-31T18:30:00+05:30' }],
	['placeCall › place', { agentUuid: { __rl: true, mode: 'id', value: 'Asha' } }],
	['placeCall › askAndWait', { yesValues: 'yes', noValues: 'yes' }],
	['getCall › getMany', { filters: { from: 'soon' } }],
	['campaignStatus', { campaignId: 'Diwali' }],
	['pushCampaignContacts', { ...pushJson, contacts: '[7]' }],
	['injectContext', { sessionId: 'Asha' }],
	['dnd › check', { phone: 'Asha' }],
	['placeCall › place', { initialGreeting: 'x'.repeat(2_001) }],
	['getCall › getUnreached', { maximumAttempts: 0 }],
])('%s, of a field that the model does not fill in: the owner must fix it, %#', async (...one) => {
	const [operation, own] = one;
	const { node: type, parameters } = useOf(operation);
	const tool = engineTool(await nodeOf(type, { ...parameters, ...own }), {
		row: { phone: 'home' },
	});
	const { outcome, next_step: next } = await tool();
	expect([outcome, next]).toEqual([
		'not_sent',
		`Nothing was done. Tell the user you are chatting with that ${OWNER} must fix this.`,
	]);
});

const ofSession = (sessionId: string) => ({ sessionId });
const inRequest = (sessionId: string) => ({ sendBy: 'inbound', sessionId, agentUuid: '' });
const ofCampaign = (campaignId: string) => ({ campaignId });
const { sessions, agents, campaigns } = fixtures;

test.each<[string, (value: string) => INodeParameters, string, string]>([
	['chatSend › sendMessage', ofSession, sessions.unknown, 'Check the session ID.'],
	['injectContext', ofSession, sessions.unknown, 'Check the session ID.'],
	['chatSend › sendMessage', inRequest, sessions.foreign, 'check it, too.'],
	['chatSession › create', agent, 'agent_unknown', 'Check the agent ID'],
	['placeCall › place', agent, 'agent_unknown', 'Check the agent ID'],
	['placeCall › place', agent, agents.noNumber, 'use another agent.'],
	['campaignStatus', ofCampaign, '999', 'Check the campaign ID.'],
	[
		'pushCampaignContacts',
		(value) => ({ ...pushJson, ...ofCampaign(value) }),
		String(campaigns.archived),
		'Use another campaign',
	],
	['getCall › get', (callId) => ({ callId }), sessions.unknown, 'Check the call_id'],
])(
	'%s, with a value that the service rejects: only a model that fills it in gets advice, %#',
	async (operation, own, value, advice) => {
		const { node: type, parameters } = useOf(operation);
		const askWith = async (shown: string) => {
			const tool = engineTool(await nodeOf(type, { ...parameters, ...own(shown) }));
			return (await tool({ given: value })).next_step;
		};
		expect(await askWith(value)).toBe(
			`Nothing was done. Tell the user you are chatting with that ${OWNER} must fix this.`,
		);
		expect(await askWith(GIVEN)).toContain(advice);
	},
);

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

test.each([
	['socket', 'that the model fills in', GIVEN, /^Use a different key for each message\./],
	['socket', 'of the workflow', '42', /^Nothing was done\. Tell the user/],
	['async', 'that the model fills in', GIVEN, /^Use a different key for each message\./],
	['async', 'of the workflow', '42', /^Nothing was done\. Tell the user/],
])(
	'chatSend › sendMessage, %s: another message with a key %s that was used before',
	async (sendBy, _whose, idempotencyKey, advice) => {
		const { parameters } = useOf('chatSend › sendMessage');
		const message = "={{ $fromAI('message', ``, 'string') }}";
		const keyed = { ...parameters, sendBy, message, idempotencyKey };
		const tool = engineTool(await nodeOf('chatSend', keyed));
		expect(await tool({ message: 'Hello', given: '42' })).toMatchObject({ outcome: 'done' });
		const second = await tool({ message: 'Hello again', given: '42' });
		expect(second).toMatchObject({ outcome: 'rejected' });
		expect(second.next_step).toMatch(advice);
	},
);

test('an archived campaign that the model does not choose must be changed by the owner', async () => {
	const { parameters } = useOf('pushCampaignContacts');
	const chosen = { ...parameters, ...pushJson, campaignId: campaigns.archived };
	const archived = { ...chosen, options: { skipPushedBefore: true } };
	const fixed = engineTool(await nodeOf('pushCampaignContacts', archived));
	expect((await fixed()).next_step).toContain(OWNER);
	const ofModel = engineTool(
		await nodeOf('pushCampaignContacts', { ...archived, campaignId: GIVEN }),
	);
	expect((await ofModel({ given: campaigns.archived })).next_step).toMatch(
		/^Choose another campaign\. Campaign: /,
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
	for (const { next } of results) expect(next).not.toMatch(/set up this tool|expression|node|item/);
}
