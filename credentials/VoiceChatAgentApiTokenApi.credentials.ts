import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import {
	PROVIDER_SENT_SETTINGS,
	PROVIDER_SENT_SETTINGS_LABEL,
	PROVIDER_SETTINGS,
	PROVIDER_SETTINGS_LABEL,
} from '../nodes/core/profile/providerSettings';
import { apiMappingProperties, authorize } from '../nodes/host/http/credential';

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
			displayName:
				'These two fields are enough to place calls and push campaigns. The list of calls, do-not-disturb lists, and chat requests need names that differ between services. Send the <a href="https://publisher.invalid/n8n-nodes-voice-chat-agent/blob/main/docs/provider-questionnaire.md" target="_blank">questionnaire</a> to your provider. When the reply is there, turn on the switch below.',
			name: 'openDetailsNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: PROVIDER_SENT_SETTINGS_LABEL,
			name: PROVIDER_SENT_SETTINGS,
			type: 'boolean',
			default: false,
			description:
				"Whether to enter your provider's reply to the questionnaire, or the same settings one by one. If you save with this off, n8n deletes them.",
		},
		{
			displayName: PROVIDER_SETTINGS_LABEL,
			name: PROVIDER_SETTINGS,
			type: 'string',
			typeOptions: { rows: 8 },
			default: '',
			placeholder: `{
  "agents": {
    "agentsPath": "data.agents",
    "agentsIdPlace": "field",
    "agentsIdPath": "id",
    "agentsNamePath": "title"
  }
}`,
			description:
				"The block of settings that your provider sent, with its curly brackets. Its sections replace the sections below. Sections that it doesn't contain are read from below. When you save, n8n tests what it can read. It doesn't test chat requests, filters, or changes to lists.",
			displayOptions: { show: { [PROVIDER_SENT_SETTINGS]: [true] } },
		},
		...apiMappingProperties(),
	];

	/** Adds the token as a header, and only to requests below the base URL. */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		return await Promise.resolve(authorize(credentials, request));
	}
}
