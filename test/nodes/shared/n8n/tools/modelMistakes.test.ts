/** Mistakes of a model: the tool says what to send instead, with an example, and mentions no other person. */
import type { INodeParameters } from 'n8n-workflow';
import { type FormLabel, formatOf } from '../../../../../nodes/shared/modelFormats';
import { agent, CALL as call, QUESTION as ask } from '../../../../contract/contractCase';
import { simulatedNodes } from '../../../../contract/simulatedNodes';
import { engineTool } from '../../../../engine';
import { fixtures } from '../../../../simulator';

const { simulator, nodeOf } = simulatedNodes();
const { calls, campaigns, sessions } = fixtures;

const GIVEN = "={{ $fromAI('given', ``, 'string') }}";
const byModel = { agentUuid: { __rl: true, mode: 'id', value: GIVEN } };
const developer = (field: string) => ({ developerSettings: { [field]: GIVEN } });
const push = {
	campaignId: String(campaigns.active),
	...agent(),
	whatToDo: 'wait',
	contactsFrom: 'json',
};
const pushOne = { ...push, contacts: '[{ "phone": "9876543210" }]' };
const message = { operation: 'sendMessage', sendBy: 'socket' };
const legacy = { resource: 'legacy', operation: 'legacyCreate', ...agent() };

type Mistake = [
	field: FormLabel,
	node: string,
	parameters: INodeParameters,
	given: Array<string | boolean | object>,
	/** By default, the format of the field. */
	advice?: string,
];

const answer = { operation: 'answerInteraction', sessionId: sessions.open, optionId: 'yes' };
const command = { resource: 'session', operation: 'supportCommand', sessionId: sessions.open };
const selected = { operation: 'get', callId: calls.finished, simplify: 'selected' };
const status = { campaignId: String(campaigns.active) };

const MISTAKES: Mistake[] = [
	['Agent', 'placeCall', { ...call, ...byModel }, ['', 'Asha', '42', true, ['a'], { id: 1 }]],
	['Agent', 'agents', { operation: 'check', ...byModel }, ['', 'Asha']],
	['Agent', 'pushCampaignContacts', { ...pushOne, ...byModel }, ['', 'Asha']],
	['Agent', 'dnd', { operation: 'check', phone: '9876543210', ...byModel }, ['', 'Asha']],
	[
		'Country',
		'placeCall',
		{ ...call, countryCode: GIVEN },
		['', 'Korea', '+91', 'INDI'],
		'"IN" for India.',
	],
	['Phone Number', 'placeCall', { ...call, phoneNumber: GIVEN }, ['', 'Asha', 'home']],
	[
		'When to Call',
		'placeCall',
		{ ...call, when: GIVEN },
		['', 'tomorrow at 6', '2027-01-31T18:30:00', '2027-01-31', '2020-01-31T18:30:00+05:30'],
	],
	['Counts as Yes', 'placeCall', { ...ask, yesValues: GIVEN }, ['', 'no']],
	['Counts as No', 'placeCall', { ...ask, noValues: GIVEN }, ['', 'yes']],
	['Call ID', 'getCall', { operation: 'get', callId: GIVEN }, ['', '42/7', 'Asha’s call']],
	['Campaign', 'campaignStatus', { campaignId: GIVEN }, ['', 'Diwali', '-1']],
	['Campaign', 'pushCampaignContacts', { ...pushOne, campaignId: GIVEN }, ['', 'Diwali']],
	['Contacts', 'pushCampaignContacts', { ...push, contacts: GIVEN }, ['', 'Asha 9876543210', '{']],
	['Session ID', 'chatSend', { ...message, message: 'Hi', sessionId: GIVEN }, ['', 'Asha', '42']],
	['Session ID', 'injectContext', { context: 'Hi', sessionId: GIVEN }, ['', 'Asha']],
	['Message', 'chatSend', { ...message, sessionId: sessions.open, message: GIVEN }, ['', ' ']],
	['Context', 'injectContext', { sessionId: sessions.open, context: GIVEN }, [' ']],
	['Interaction ID', 'chatSend', { ...answer, interactionId: GIVEN }, [' ']],
	['Command', 'chatSession', { ...command, command: GIVEN }, ['', ' ']],
	['Metadata', 'chatSession', { ...legacy, metadata: GIVEN }, ['website', '["website"]']],
	[
		'Additional Body Fields',
		'placeCall',
		{ ...call, ...developer('additionalBodyFields') },
		['high', '["high"]', '{priority: high', '42', 'true'],
	],
	[
		'Additional Query Fields',
		'campaignStatus',
		{ ...status, ...developer('additionalQueryParameters') },
		['en', '["en"]', '{"locale": {"language": "en"}}'],
	],
	['Fields', 'getCall', { ...selected, selectedFields: GIVEN }, [',']],
];

// Jest passes a callback for a missing value of a row, so each row gets all values.
test.each(
	MISTAKES.map(([field, type, parameters, given, advice = formatOf(field)]) => ({
		field,
		type,
		parameters,
		given,
		advice,
	})),
)('$field of $type', async ({ type, parameters, given, advice }) => {
	await expectAdvice(advice, type, parameters, given);
});

test('a switch', async () => {
	const parameters = { ...message, sessionId: sessions.open, message: 'Hi' };
	const byModel = { disconnectOther: "={{ $fromAI('given', ``, 'boolean') }}" };
	const advice = 'Give Disconnect Other Connection as true or false.';
	await expectAdvice(advice, 'chatSend', { ...parameters, ...byModel }, ['', 'maybe']);
});

/** Nothing is sent for any of these values, and the next step has the advice, but none for a person. */
async function expectAdvice(
	advice: string,
	type: string,
	parameters: INodeParameters,
	given: Mistake[3],
): Promise<void> {
	const results = [];
	for (const value of given) {
		simulator().reset();
		const node = await nodeOf(type, parameters);
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
