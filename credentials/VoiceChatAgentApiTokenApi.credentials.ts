import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import { SERVICE_PROFILE } from '../nodes/core/profile/schema';
import { QUESTIONNAIRE } from '../nodes/core/profile/serviceProfile';
import { authorize, FINISHED_STATUSES, OPT_OUT_KEY } from '../nodes/host/http/credential';

/** n8n gives nodes only the settings that the form shows. */
const MORE = { show: { moreSettings: [true] } };

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
			displayName: 'More Settings',
			name: 'moreSettings',
			type: 'boolean',
			default: false,
			description:
				"Whether to use the settings below, which lists of calls, do-not-disturb lists, and chats need. While this is off, they aren't used.",
		},
		{
			displayName: `Send the <a href="${QUESTIONNAIRE}" target="_blank">questionnaire</a> to your provider, and paste the reply below.`,
			name: 'openDetailsNotice',
			type: 'notice',
			default: '',
			displayOptions: MORE,
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
				'What your provider replied to the questionnaire, from the first curly bracket to the last',
			displayOptions: MORE,
		},
		{
			displayName: 'Opt-Out Key',
			name: 'optOutKey',
			type: 'string',
			default: OPT_OUT_KEY,
			placeholder: `e.g. ${OPT_OUT_KEY}`,
			description:
				'The key of the data point that tells whether a person asked for no more calls. It decides opted_out in the results.',
			displayOptions: MORE,
		},
		{
			displayName: 'Finished Statuses',
			name: 'finishedStatuses',
			type: 'string',
			default: FINISHED_STATUSES,
			placeholder: 'e.g. not_picked, failed',
			description:
				'The statuses of completed calls, separated by commas. Add others that your account uses, and remove those that it shows during a call.',
			displayOptions: MORE,
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
