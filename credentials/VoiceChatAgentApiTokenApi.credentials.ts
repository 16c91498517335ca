import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import { OBSERVED_OUTCOMES } from '../nodes/core/calls/callEnd';
import { SERVICE_PROFILE } from '../nodes/core/profile/schema';
import { QUESTIONNAIRE } from '../nodes/core/profile/serviceProfile';
import { authorize } from '../nodes/host/http/credential';

export class VoiceChatAgentApiTokenApi implements ICredentialType {
	name = 'voiceChatAgentApiTokenApi';

	displayName = 'Voice and Chat Agent API';

	icon = {
		light: 'file:../nodes/icons/voiceChatAgent.svg',
		dark: 'file:../nodes/icons/voiceChatAgent.dark.svg',
	} as const;

	documentationUrl =
		'https://publisher.invalid/n8n-nodes-voice-chat-agent/blob/main/docs/credential.md';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://voice.your-provider.com',
			description: 'The URL of your Voice and Chat Agent Service, beginning with https://',
		},
		{
			displayName: 'API Token',
			name: 'apiToken',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description:
				'The 16-character token from your dashboard settings. Keep it secret, because it can place calls.',
		},
		{
			displayName: `These two fields are enough to place calls and push campaigns. The list of calls, do-not-disturb lists, and chat requests differ between services. Send the <a href="${QUESTIONNAIRE}" target="_blank">questionnaire</a> to your provider, and paste the reply below.`,
			name: 'openDetailsNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: SERVICE_PROFILE,
			name: 'serviceProfile',
			type: 'string',
			typeOptions: { rows: 8 },
			default: '',
			placeholder: `{
  "agents": { "list": "data.agents", "id": "id", "name": "title" },
  "dnd.add": {
    "body": { "bot": "{agent}", "entry": { "phone": "{phone}", "why": "{reason?}" } }
  }
}`,
			description:
				"What your provider replied to the questionnaire, from the first curly bracket to the last. When you save, n8n checks all of it, and tests what it can read. It doesn't send messages or change lists for this.",
		},
		{
			displayName: 'Opt-Out Key',
			name: 'optOutKey',
			type: 'string',
			default: 'opt_out',
			placeholder: 'e.g. opt_out',
			description:
				'The key of the data point that tells whether a person asked for no more calls. Its captured value decides opted_out in the results: true for yes, false for no, and null for anything else.',
		},
		{
			displayName: 'Finished Statuses',
			name: 'finishedStatuses',
			type: 'string',
			default: OBSERVED_OUTCOMES.join(', '),
			placeholder: 'e.g. not_picked, failed',
			description:
				'Statuses of completed calls, separated by commas. A call with the status picked is completed when its record also has an end reason, a summary, or an analysis. Known statuses are picked, not_picked, and failed. Add any others that your account uses, and remove those that it shows during a call.',
		},
	];

	/** Adds the token as a header, and only to requests below the base URL. */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		return await Promise.resolve(authorize(credentials, request));
	}
}
