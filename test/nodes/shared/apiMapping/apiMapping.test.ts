import { ApiMapping } from '../../../../nodes/shared/apiMapping';
import { CHAT_PLACEMENT_FIELDS } from '../../../../nodes/shared/apiMapping/chat';
import { CALL_LIST_TOPIC, DND_TOPIC } from '../../../../nodes/shared/apiMapping/topics';

test('a missing value has a message with what it is for, whom to ask, the switch, and the field', () => {
	const missing = () => new ApiMapping({ dndAddAgentName: ' ' }).required('dndAddAgentName');
	expect(caught(missing)).toMatchObject({
		outcome: 'not_sent',
		message: 'The credential lacks settings for do-not-disturb lists',
		resolution:
			"Send your service provider the questionnaire that is linked in the credential. Then turn on 'My Provider Sent Settings' there and paste the reply into 'Settings From Your Provider'. Or turn on 'Set Up Do-Not-Disturb Lists' and fill in 'Add Number: Agent Field Name'.",
	});
	expect(new ApiMapping({ dndAddAgentName: ' agent ' }).required('dndAddAgentName')).toBe('agent');
});

test('a topic is set up if it has any value', () => {
	const mapping = new ApiMapping({ callListPath: 'data', dndAddAgentName: ' ' });
	expect(mapping.isSetUp(CALL_LIST_TOPIC)).toBe(true);
	expect(mapping.isSetUp(DND_TOPIC)).toBe(false);
});

test('several missing values are named together, each once', () => {
	const missing = () =>
		new ApiMapping({ dndAddPhoneName: 'phone' }).require([
			'dndAddAgentName',
			'dndAddPhoneName',
			'dndAddPlacement',
			'dndAddAgentName',
			'chatCreateAgentName',
		]);
	expect(caught(missing)).toMatchObject({
		message: 'The credential lacks settings for do-not-disturb lists and chat requests',
		resolution: expect.stringMatching(
			/ Or turn on 'Set Up Do-Not-Disturb Lists' and fill in 'Add Number: Agent Field Name' and 'Add Number: Send Values In', then turn on 'Set Up Chat Requests' and fill in 'Create Session: Agent Field Name'\.$/,
		),
	});
});

test.each(Object.entries(CHAT_PLACEMENT_FIELDS))(
	'%s: in the body by default',
	(_name, { choices, unset }) => {
		expect(choices.map(({ value }) => value)).toEqual(['query']);
		expect(unset).toBe('Body');
	},
);

function caught(act: () => unknown): unknown {
	try {
		return act();
	} catch (error) {
		return error;
	}
}
