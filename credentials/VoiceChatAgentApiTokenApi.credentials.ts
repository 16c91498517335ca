import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import { apiMappingProperties, authorize } from '../nodes/shared/n8n/http/credential';

export class VoiceChatAgentApiTokenApi implements ICredentialType {
	name = 'voiceChatAgentApiTokenApi';

	displayName = 'Voice and Chat Agent API';

	icon = {
		light: 'file:../nodes/shared/icons/voiceChatAgent.svg',
		dark: 'file:../nodes/shared/icons/voiceChatAgent.dark.svg',
	} as const;

	documentationUrl =
		'https://github.com/n8n-nodes-voice-chat-agent/n8n-nodes-voice-chat-agent/blob/main/docs/credential.md';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://voice.your-provider.com',
			description: 'The address of your Voice and Chat Agent Service, beginning with https://',
		},
		{
			displayName: 'API Token',
			name: 'apiToken',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description:
				'The 16-character token from the settings of your dashboard. Keep it secret: it can place calls.',
		},
		{
			displayName:
				'API mapping: services differ in how they name some values. Send the <a href="https://github.com/n8n-nodes-voice-chat-agent/n8n-nodes-voice-chat-agent/blob/main/docs/provider-questionnaire.md" target="_blank">questionnaire</a> to your provider and paste the block that comes back. You can also set up each topic yourself below, when a node asks for it. Saving tests what can be read; chat requests, filters and changes of a list are not tested.',
			name: 'openDetailsNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'Settings From Your Provider',
			name: 'providerSettings',
			type: 'string',
			typeOptions: { rows: 6 },
			default: '',
			placeholder: 'e.g. { "callList": { … } }',
			description:
				'The block of settings for your service. A topic that the block contains is taken from the block alone, whatever is set up below; the other topics are taken from below.',
		},
		...apiMappingProperties(),
	];

	/** The token travels in a header, and to the base URL alone. */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		return await Promise.resolve(authorize(credentials, request));
	}
}
