# frozen_string_literal: true

# Makes every warning of Ruby an error, but for what the generated code has: writers that it defines twice.
module Warning
  def self.warn(message, category: nil)
    raise message.chomp unless message.include?("/client/lib/") && message.include?("method redefined")
  end
end
