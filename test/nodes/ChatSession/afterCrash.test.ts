import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import {
	engineHarness,
	runKilled,
	oneNodeWorkflow,
	output,
	resume,
	service,
	storedCopy,
} from '../../engine';
import { fixtures } from '../../simulator';

const harness = engineHarness();
const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.full };
const sessionId = fixtures.sessions.open;
/** Differs in each execution. */
const developerSettings = { additionalBodyFields: '={ "external_id": "{{ $execution.id }}" }' };
const mapping = {
	describeChat: true,
	chatCreateAgentName: 'agent_uuid',
	chatCreatePersonName: 'person_name',
};

test.each<[string, string, INodeParameters]>([
	['create', '/v1/chat/session', { agentUuid, personName: 'Asha' }],
	['legacyCreate', '/chat_sessions', { agentUuid, metadata: '={ "at": "{{ $execution.id }}" }' }],
	['legacyClose', `/chat_sessions/${sessionId}/close_session`, { agentUuid, sessionId }],
	['legacyPause', `/chat_sessions/${sessionId}/pause_session`, { agentUuid, sessionId }],
	['close', `/v1/chat/session/${sessionId}/support`, { sessionId }],
])(
	"%s: after n8n was killed, isn't sent again even if a value has changed",
	async (operation, path, parameters) => {
		const bodies: IDataObject[] = [];
		service()
			.post(path)
			.reply(200, (_uri, body) => {
				bodies.push(typeof body === 'string' ? {} : body);
				return { success: true, data: { session_id: sessionId } };
			});
		const credential = await harness.addCredential(mapping);
		const node = harness.node('chatSession', {
			credentials: { [CREDENTIAL]: credential },
			parameters: {
				...(operation.startsWith('legacy') && { resource: 'legacy' }),
				operation,
				...parameters,
				developerSettings,
			},
			onError: 'continueRegularOutput',
		});
		const { workflow, start } = oneNodeWorkflow(node);
		const started = await runKilled(harness.credentials, workflow, start, [{ json: {} }]);
		const run = await resume(harness.credentials, workflow, storedCopy(started), 'retry');
		expect(bodies).toHaveLength(1);
		expect(JSON.stringify(bodies[0])).toContain('exec-');
		expect(output(run, 'Node')[0]?.json.error).toContain('An earlier attempt of this execution');
	},
);
